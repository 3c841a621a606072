// SPDX-License-Identifier: BSD-3-Clause
// Fuzz target of a reader: any text is read, or refused by one sentence. Everything else ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace convene::fuzz {

/// Ends the program, for the fuzzer to keep the input.
[[noreturn]] inline void refuse(const char* what, const std::string& sentence) {
  std::fprintf(stderr, "%s: '%s'\n", what, sentence.c_str());
  std::abort();
}

/// Calls `read` with the text; an Error must be one line that says something.
template <class Read>
int try_reader(const std::uint8_t* data, std::size_t size, const Read& read) {
  try {
    read(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const base::Error& error) {
    const std::string sentence = error.what();
    if (sentence.empty()) refuse("an error without a sentence", sentence);
    if (sentence.find('\n') != std::string::npos) refuse("an error of several lines", sentence);
  }
  return 0;
}

}  // namespace convene::fuzz
