// SPDX-License-Identifier: BSD-3-Clause
// Wisdom update: what a program has learned is merged into a wisdom file.
//
// A learned entry holds for one size. It replaces entries of the same machine and communicators there: an
// entry of a range keeps the rest of its range. All else in the file stays.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decide/wisdom_files.hpp"

namespace convene::decide {

struct LearnedEntry {
  WisdomEntry entry;          ///< `use` without an algorithm: native
  std::string how;            ///< "learned", or "guard" where native came back
  double measured_ratio = 1;  ///< of the algorithm that ran or was tried over native
  std::uint64_t calls = 0;    ///< of the signature, when it was decided
  std::uint64_t pairs = 0;    ///< of blocks
};

/// The text of a wisdom file with these entries, of which later ones replace earlier ones. `old` may be
/// empty. Throws Error where it is no wisdom file.
std::string merged_wisdom(std::string_view old, const std::string& file,
                          std::span<const LearnedEntry> learned, const std::string& date);

/// The file to which a program may add: the first one, except the site's default. Empty: none.
std::string wisdom_to_write(const std::vector<WisdomFile>& files);

/// Merges into a file under its lock, and replaces it as a whole. Returns why not, as a clause; else nothing.
std::string update_wisdom_file(const std::string& path, std::span<const LearnedEntry> learned,
                               const std::string& date);

/// As in 2026-11-26.
std::string today();

}  // namespace convene::decide
