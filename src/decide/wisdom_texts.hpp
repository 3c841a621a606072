// SPDX-License-Identifier: BSD-3-Clause
// Texts of wisdom files: which of their entries count on this machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "decide/wisdom.hpp"

namespace convene::decide {

/// What is read of several files.
class WisdomReading {
 public:
  /// `others`: entries that are left out are added there; may be null.
  explicit WisdomReading(MachineKey here, std::vector<WisdomEntry>* others = nullptr)
      : here_(std::move(here)), others_(others) {}

  /// Takes the entries of this machine. `index`: number of the file. Does not throw for a damaged text: it is
  /// refused.
  void take(const std::string& text, const std::string& path, unsigned index);
  /// Notes why a file is not used, as a clause.
  void refuse(const std::string& path, const std::string& why);
  /// Notes a sentence.
  void note(std::string sentence) { refusals_.push_back(std::move(sentence)); }

  Wisdom wisdom() const { return Wisdom(entries_); }
  const std::vector<std::string>& refusals() const { return refusals_; }

 private:
  MachineKey here_;
  std::vector<WisdomEntry>* others_;
  std::vector<WisdomEntry> entries_;
  std::vector<std::string> refusals_;
};

}  // namespace convene::decide
