// SPDX-License-Identifier: BSD-3-Clause
// Base class of generalised requests: requests that all MPI calls accept.
#pragma once

#include <atomic>

#include "runtime/progress/progress_engine.hpp"

namespace convene::runtime {

class GeneralizedRequest : public Progressing {
 public:
  /// Creates the request. Returns MPI_SUCCESS or the MPI's error.
  int make_request();
  MPI_Request request() const { return request_; }

 protected:
  /// The end of a run: a wait for the request returns `code`.
  void end(int code) {
    code_ = code;
    is_over_.store(true, std::memory_order_release);
  }
  void begin() {
    code_ = MPI_SUCCESS;
    is_completed_.store(false, std::memory_order_release);
    is_over_.store(false, std::memory_order_release);
  }
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  int code() const { return code_; }
  /// Wakes the request's waiter; afterwards this object may have been deleted, or restarted.
  void complete_request() {
    is_completed_.store(true, std::memory_order_release);
    pmpi.Grequest_complete(request_);
  }
  /// Called when the MPI has freed the request: its last callback.
  virtual void on_request_gone() = 0;

 private:
  static int on_query(void* extra, MPI_Status* status);
  static int on_free(void* extra);
  static int on_cancel(void* extra, int complete);
  static int on_poll(void* extra, MPI_Status* status);
  static int on_wait(int count, void** waited_for, double timeout, MPI_Status* status);

  MPI_Request request_ = MPI_REQUEST_NULL;
  int code_ = MPI_SUCCESS;
  std::atomic<bool> is_over_ = false, is_completed_ = false;
};

}  // namespace convene::runtime
