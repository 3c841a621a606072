// SPDX-License-Identifier: BSD-3-Clause
#include "topology/core_sharing.hpp"

#include <bit>
#include <cstddef>
#include <vector>

namespace convene::topology {
namespace {

class Matching {
 public:
  explicit Matching(std::span<const CpuMask> masks)
      : masks_(masks), process_on_(most_masked_cpus, unassigned) {}

  /// Gives one more process a CPU, for which others may move. False if that is impossible.
  bool assign(std::size_t process) {
    tried_ = {};
    return find_cpu(process);
  }

 private:
  static constexpr std::size_t unassigned = static_cast<std::size_t>(-1);

  bool find_cpu(std::size_t process) {
    const CpuMask& mask = masks_[process];
    for (const bool may_move_others : {false, true})
      for (std::size_t word = 0; word < mask.size(); ++word)
        while (const std::uint64_t open = mask[word] & ~(may_move_others ? tried_ : taken_)[word]) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(open));
          const std::size_t cpu = word * 64 + bit;
          tried_[word] |= std::uint64_t{1} << bit;
          if (may_move_others && !find_cpu(process_on_[cpu])) continue;
          taken_[word] |= std::uint64_t{1} << bit;
          process_on_[cpu] = process;
          return true;
        }
    return false;
  }

  std::span<const CpuMask> masks_;
  std::vector<std::size_t> process_on_;  // by CPU
  CpuMask taken_{}, tried_{};            // tried: in the present search
};

}  // namespace

CpuMask mask_of(std::span<const std::uint32_t> cpus) {
  CpuMask mask{};
  for (const std::uint32_t cpu : cpus) {
    const std::uint32_t place = cpu % most_masked_cpus;
    mask[place / 64] |= std::uint64_t{1} << place % 64;
  }
  return mask;
}

bool must_share_cores(std::span<const CpuMask> masks) {
  Matching matching(masks);
  for (std::size_t process = 0; process < masks.size(); ++process)
    if (masks[process] != CpuMask{} && !matching.assign(process)) return true;
  return false;
}

}  // namespace convene::topology
