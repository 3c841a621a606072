// SPDX-License-Identifier: BSD-3-Clause
#include "topology/launched_ranks.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace convene::topology {
namespace {

std::string_view launcher_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The number at the beginning of a text, which it loses; 0 if there is none.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::uint32_t ranks_in(std::string_view text) {
  const std::uint32_t number = take_number(text);
  return text.empty() ? number : 0;
}

/// The greatest number of a list as Slurm writes it: "2(x3),1" is three nodes with 2, one with 1.
std::uint32_t most_of_list(std::string_view list) {
  std::uint32_t most = 0;
  while (!list.empty()) {
    const std::uint32_t ranks = take_number(list);
    if (ranks == 0) return 0;
    most = std::max(most, ranks);
    if (list.starts_with("(x")) {
      list.remove_prefix(2);
      if (take_number(list) == 0 || !list.starts_with(')')) return 0;
      list.remove_prefix(1);
    }
    if (!list.empty() && list.front() != ',') return 0;
    if (!list.empty()) list.remove_prefix(1);
  }
  return most;
}

}  // namespace

std::uint32_t launched_ranks_per_node() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const std::uint32_t ranks = ranks_in(launcher_variable(name))) return ranks;
  return most_of_list(launcher_variable("SLURM_STEP_TASKS_PER_NODE"));
}

}  // namespace convene::topology
