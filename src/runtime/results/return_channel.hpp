// SPDX-License-Identifier: BSD-3-Clause
// Return channel: a connection from rank 0 to `convene` on the launching machine, over which result files
// return if that machine shares no directory with rank 0.
//
// Design notes
// - CONVENE_RETURN_TO is ID@ADDRESS:PORT,… and names the run and the addresses of the launching machine.
//   CONVENE_RETURN_TOKEN is the secret that admits a connection. `convene` sets both.
// - The protocol is one line a request: `put NAME BYTES` with that many bytes, which are appended to a part;
//   `end NAME`, which completes a file; `get NAME`, answered with `BYTES` and that many bytes; `done`,
//   answered with `done` once all files are complete.
// - Every wait is limited: the program ends without the launching machine, too.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/layers.hpp"

namespace convene::runtime::results {

/// The part of CONVENE_RETURN_TO before the addresses; empty if no results return.
std::string run_id();

class ReturnChannel {
 public:
  /// Connects to the first address that answers.
  ReturnChannel();
  ~ReturnChannel();
  ReturnChannel(const ReturnChannel&) = delete;
  ReturnChannel& operator=(const ReturnChannel&) = delete;

  /// Why the connection failed, as a clause; empty if it works. A failed channel ignores further requests.
  const std::string& failure() const { return failure_; }

  /// Appends bytes to a file of that name.
  void put(const std::string& name, std::string_view bytes);
  /// Completes a file.
  void end(const std::string& name);
  /// The content of that name on the launching machine; nothing on failure.
  std::optional<std::string> get(const std::string& name);
  /// Waits until all files are written. False on failure.
  bool finish();

 private:
  void open();
  void fail(std::string why);
  void connect_to(const std::string& host, const std::string& port);
  void send(std::string_view bytes);
  std::string receive_line();
  void receive(char* bytes, std::size_t size);

  int socket_ = -1;
  std::string failure_;
};

}  // namespace convene::runtime::results
