// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom_texts.hpp"

#include "base/error.hpp"

namespace convene::decide {

void WisdomReading::refuse(const std::string& path, const std::string& why) {
  note("wisdom file " + path + " is ignored: it " + why);
}

void WisdomReading::take(const std::string& text, const std::string& path, unsigned index) try {
  std::vector<WisdomEntry> all = parse_wisdom(text, path);
  std::size_t kept = 0;
  for (WisdomEntry& each : all) {
    each.file = index;
    const bool is_of_here = each.is_of(here_);
    if (is_of_here) ++kept;
    if (is_of_here && each.native_algorithm.empty())  // others need a setting of the MPI
      entries_.push_back(each);
    else if (others_)
      others_->push_back(each);
  }
  if (kept < all.size())
    note(std::to_string(all.size() - kept) + " of " + std::to_string(all.size()) + " entries of " + path +
         " are ignored: they are for another MPI, processor or network than " + here_.mpi + " on " +
         here_.cpu);
} catch (const Error& error) {
  note(std::string("wisdom is ignored: ") + error.what());
}

}  // namespace convene::decide
