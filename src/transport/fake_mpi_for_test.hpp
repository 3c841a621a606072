// SPDX-License-Identifier: BSD-3-Clause
// For tests only: an MPI in one process, whose ranks are threads. It delivers point-to-point messages and is
// as adverse as the standard allows: sends can wait for their receive, completions are reported in random
// order, and calls can be made to fail.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "mpi/functions.hpp"

namespace convene::transport {

class FakeMpi {
 public:
  struct Options {
    bool rendezvous = false;  ///< a send completes only when it has been received
    unsigned seed = 1;        ///< of the order of completions
    int failing_rank = -1;    ///< whose `failing_call`-th call returns `failure`
    int failing_call = 0;
  };
  static constexpr int failure = 17;

  FakeMpi(int procs, const Options& options) : options_(options), ranks_(static_cast<std::size_t>(procs)) {
    current_ = this;
    pmpi.Isend = isend;
    pmpi.Send = send;
    pmpi.Irecv = irecv;
    pmpi.Recv = recv;
    pmpi.Sendrecv = sendrecv;
    pmpi.Wait = wait;
    pmpi.Waitsome = waitsome;
    pmpi.Testsome = testsome;
    pmpi.Test = test;
    pmpi.Iprobe = iprobe;
    pmpi.Cancel = cancel;
    pmpi.Request_free = request_free;
    pmpi.Type_contiguous = type_contiguous;
    pmpi.Type_create_struct = type_create_struct;
    pmpi.Type_commit = type_commit;
    pmpi.Type_free = type_free;
  }
  ~FakeMpi() { pmpi = MpiTable{}; }
  FakeMpi(const FakeMpi&) = delete;
  FakeMpi& operator=(const FakeMpi&) = delete;

  /// Call first in each rank's thread.
  void enter(int rank) { me_ = rank; }

  /// Messages that were not received, requests and datatypes that were not completed or freed.
  std::size_t left_over() const {
    std::size_t sum = 0;
    for (const Rank& rank : ranks_) sum += rank.mailbox.size() + rank.requests.size() + rank.types.size();
    return sum;
  }

  std::size_t open_requests() const {
    std::size_t sum = 0;
    for (const Rank& rank : ranks_) sum += rank.requests.size();
    return sum;
  }

 private:
  struct Part {
    std::byte* at;  // or an offset, in a datatype
    std::size_t bytes;
  };
  using Parts = std::vector<Part>;
  struct Envelope {
    int source, tag;
    std::vector<std::byte> data;
    std::shared_ptr<bool> received;
  };
  struct Request {
    bool is_receive = false, truncated = false;
    int source = 0, tag = 0;
    Parts to;
    std::shared_ptr<bool> done = std::make_shared<bool>(false);
  };
  struct Rank {
    std::deque<Envelope> mailbox;
    std::map<int, Request> requests;  // in the order in which they were posted
    std::map<int, Parts> types;
    int next = 1000, calls = 0;
  };

  template <class Handle>
  static Handle handle(int number) {
    return (Handle)(std::uintptr_t)(number);  // a pointer or an int, by stack
  }
  template <class Handle>
  static int number(Handle handle) {
    return static_cast<int>((std::uintptr_t)(handle));
  }

  static FakeMpi& self() { return *current_; }
  Rank& mine() { return ranks_[static_cast<std::size_t>(me_)]; }

  bool fails() { return ++mine().calls == options_.failing_call && me_ == options_.failing_rank; }

  /// Call with the lock held.
  Parts parts_of(const void* buffer, int count, MPI_Datatype type) {
    auto* base = static_cast<std::byte*>(const_cast<void*>(buffer));
    if (type == MPI_BYTE) return {{base, static_cast<std::size_t>(count)}};
    Parts parts = mine().types.at(number(type));
    for (Part& part : parts) part.at = base + reinterpret_cast<std::uintptr_t>(part.at);
    return parts;
  }

  /// Delivers messages to the receives that match them, in the order of posting.
  void deliver(Rank& rank) {
    for (auto& [id, request] : rank.requests) {
      if (!request.is_receive || *request.done) continue;
      const auto envelope = std::find_if(rank.mailbox.begin(), rank.mailbox.end(), [&](const Envelope& one) {
        return one.source == request.source && one.tag == request.tag;
      });
      if (envelope == rank.mailbox.end()) continue;
      std::size_t done = 0;
      for (const Part& part : request.to) {
        const std::size_t now = std::min(part.bytes, envelope->data.size() - done);
        std::memcpy(part.at, envelope->data.data() + done, now);
        done += now;
      }
      request.truncated = done < envelope->data.size();
      *request.done = *envelope->received = true;
      rank.mailbox.erase(envelope);
      changed_.notify_all();
    }
  }

  int start_send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, Request& request) {
    Envelope envelope{me_, tag, {}, std::make_shared<bool>(false)};
    for (const Part& part : parts_of(buffer, count, type))
      envelope.data.insert(envelope.data.end(), part.at, part.at + part.bytes);
    request.done = options_.rendezvous ? envelope.received : std::make_shared<bool>(true);
    ranks_[static_cast<std::size_t>(peer)].mailbox.push_back(std::move(envelope));
    changed_.notify_all();
    return MPI_SUCCESS;
  }

  MPI_Request keep(Request request) {
    Rank& rank = mine();
    const int id = rank.next++;
    rank.requests.emplace(id, std::move(request));
    return handle<MPI_Request>(id);
  }

  /// Waits until `holds`. After one rank's failure messages may be missing: then all waits fail.
  template <class Condition>
  bool wait_until(std::unique_lock<std::mutex>& lock, Condition&& holds) {
    for (;;) {
      deliver(mine());
      if (holds()) return true;
      if (failed_) return false;
      changed_.wait(lock);
    }
  }

  int fail() {
    failed_ = true;
    changed_.notify_all();
    return failure;
  }

  static int isend(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm,
                   MPI_Request* request) {
    const std::lock_guard lock(self().mutex_);
    if (self().fails()) return self().fail();
    Request made;
    self().start_send(buffer, count, type, peer, tag, made);
    *request = self().keep(std::move(made));
    return MPI_SUCCESS;
  }

  static int send(const void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm) {
    std::unique_lock lock(self().mutex_);
    if (self().fails()) return self().fail();
    Request made;
    self().start_send(buffer, count, type, peer, tag, made);
    return self().wait_until(lock, [&] { return *made.done; }) ? MPI_SUCCESS : failure;
  }

  static int irecv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm,
                   MPI_Request* request) {
    const std::lock_guard lock(self().mutex_);
    if (self().fails()) return self().fail();
    Request made;
    made.is_receive = true;
    made.source = peer;
    made.tag = tag;
    made.to = self().parts_of(buffer, count, type);
    *request = self().keep(std::move(made));
    return MPI_SUCCESS;
  }

  static int recv(void* buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Status*) {
    MPI_Request request;
    const int code = irecv(buffer, count, type, peer, tag, comm, &request);
    return code == MPI_SUCCESS ? end(&request) : code;
  }

  static int sendrecv(const void* out, int sent, MPI_Datatype sent_type, int to, int sent_tag, void* in,
                      int received, MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm,
                      MPI_Status* status) {
    MPI_Request request;
    int code = isend(out, sent, sent_type, to, sent_tag, comm, &request);
    if (code != MPI_SUCCESS) return code;
    code = recv(in, received, received_type, from, received_tag, comm, status);
    const int code_of_send = end(&request);
    return code == MPI_SUCCESS ? code_of_send : code;
  }

  /// Waits within a call: the request is freed whatever the result.
  static int end(MPI_Request* request) {
    std::unique_lock lock(self().mutex_);
    const bool came = self().wait_until(lock, [&] { return self().is_done(*request); });
    const int code = self().complete(request);
    return came ? code : failure;
  }

  int complete(MPI_Request* request) {
    const auto found = mine().requests.find(number(*request));
    const bool truncated = found->second.truncated;
    mine().requests.erase(found);
    *request = MPI_REQUEST_NULL;
    return truncated ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
  }

  bool is_done(MPI_Request request) {
    return request != MPI_REQUEST_NULL && *mine().requests.at(number(request)).done;
  }

  static int wait(MPI_Request* request, MPI_Status*) {
    std::unique_lock lock(self().mutex_);
    if (self().fails()) return self().fail();
    if (!self().wait_until(lock, [&] { return self().is_done(*request); })) return failure;
    return self().complete(request);
  }

  /// Reports at least one of the complete requests, possibly not all, in any order.
  static int waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status*) {
    std::unique_lock lock(self().mutex_);
    if (self().fails()) return self().fail();
    std::vector<int> done;
    const bool some = self().wait_until(lock, [&] {
      for (int i = 0; i < count; ++i)
        if (self().is_done(requests[i])) done.push_back(i);
      return !done.empty();
    });
    if (!some) return failure;
    std::shuffle(done.begin(), done.end(), self().random_);
    done.resize(1 + self().random_() % done.size());
    *completed = 0;
    for (const int i : done) {
      if (const int code = self().complete(&requests[i]); code != MPI_SUCCESS) return code;
      *indices++ = i;
      ++*completed;
    }
    return MPI_SUCCESS;
  }

  static int testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status*) {
    const std::lock_guard lock(self().mutex_);
    self().deliver(self().mine());
    *completed = 0;
    for (int i = 0; i < count; ++i) {
      if (!self().is_done(requests[i]) || self().random_() % 4 == 0) continue;
      if (const int code = self().complete(&requests[i]); code != MPI_SUCCESS) return code;
      indices[(*completed)++] = i;
    }
    return self().failed_ ? failure : MPI_SUCCESS;
  }

  static int test(MPI_Request* request, int* done, MPI_Status*) {
    const std::lock_guard lock(self().mutex_);
    self().deliver(self().mine());
    *done = *request == MPI_REQUEST_NULL || self().is_done(*request);
    if (*done) return *request == MPI_REQUEST_NULL ? MPI_SUCCESS : self().complete(request);
    return self().failed_ ? failure : MPI_SUCCESS;
  }

  static int iprobe(int, int, MPI_Comm, int* found, MPI_Status*) {
    *found = 0;
    std::this_thread::yield();
    return MPI_SUCCESS;
  }

  static int cancel(MPI_Request*) { return MPI_SUCCESS; }

  static int request_free(MPI_Request* request) {
    const std::lock_guard lock(self().mutex_);
    self().mine().requests.erase(number(*request));
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }

  MPI_Datatype keep_type(Parts parts) {
    const int id = mine().next++;
    mine().types.emplace(id, std::move(parts));
    return handle<MPI_Datatype>(id);
  }

  static int type_contiguous(int count, MPI_Datatype, MPI_Datatype* made) {
    const std::lock_guard lock(self().mutex_);
    *made = self().keep_type({{nullptr, static_cast<std::size_t>(count)}});
    return MPI_SUCCESS;
  }

  static int type_create_struct(int count, const int lengths[], const MPI_Aint addresses[],
                                const MPI_Datatype types[], MPI_Datatype* made) {
    const std::lock_guard lock(self().mutex_);
    Parts parts;
    for (int i = 0; i < count; ++i) {
      const std::size_t unit = types[i] == MPI_BYTE ? 1 : self().mine().types.at(number(types[i]))[0].bytes;
      parts.push_back(
          {reinterpret_cast<std::byte*>(addresses[i]), unit * static_cast<std::size_t>(lengths[i])});
    }
    *made = self().keep_type(std::move(parts));
    return MPI_SUCCESS;
  }

  static int type_commit(MPI_Datatype*) { return MPI_SUCCESS; }

  static int type_free(MPI_Datatype* type) {
    const std::lock_guard lock(self().mutex_);
    self().mine().types.erase(number(*type));
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }

  static inline FakeMpi* current_ = nullptr;
  static inline thread_local int me_ = 0;

  const Options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Rank> ranks_;
  std::mt19937 random_{options_.seed};
  bool failed_ = false;
};

}  // namespace convene::transport
