// SPDX-License-Identifier: BSD-3-Clause
// Output of rank 0: a file, or lines on standard output, which the launcher forwards to the launching
// machine.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace convene::bench {

/// The driver creates the file before the run. Where rank 0 does not find it, its node shares no files with
/// the launching machine.
class ResultOutput {
 public:
  /// Rank 0 opens the file; other ranks have no path. `returns`: write lines if the file does not exist.
  ResultOutput(const std::string& path, bool returns)
      : is_forwarded_(returns && access(path.c_str(), F_OK) != 0), is_plain_(path.empty()) {
    errno = 0;
    if (!is_plain_ && !is_forwarded_) file_.open(path);
    if (!file_) error_ = errno;
  }

  /// 0, or the error of the system if the text cannot be written.
  int write(std::string_view text) {
    if (error_) return error_;
    errno = 0;
    if (put(text)) return 0;
    return errno ? errno : EIO;
  }

  /// For write()'s error.
  static std::string sentence(const std::string& path, int error) {
    return "cannot write " + (path.empty() ? "the output" : path) + ": " + std::strerror(error);
  }

 private:
  bool put(std::string_view text) {
    if (is_forwarded_) return forward(text);
    if (!is_plain_) return static_cast<bool>(file_ << text << std::flush);
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  }

  /// `result TEXT` with a JSON string; launchers forward lines of this length as a whole.
  static bool forward(std::string_view text) {
    constexpr std::size_t most = 2000;
    while (!text.empty()) {
      std::size_t size = std::min(text.size(), most);
      while (size < text.size() && (text[size] & 0xC0) == 0x80) --size;  // whole characters of UTF-8
      const std::string part(text.substr(0, size));
      constexpr auto replace = nlohmann::json::error_handler_t::replace;
      std::printf("result %s\n", nlohmann::json(part).dump(-1, ' ', true, replace).c_str());
      text.remove_prefix(size);
    }
    return std::fflush(stdout) == 0;
  }

  bool is_forwarded_, is_plain_;
  std::ofstream file_;
  int error_ = 0;  // of open()
};

}  // namespace convene::bench
