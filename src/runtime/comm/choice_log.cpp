// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/choice_log.hpp"

#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "base/sizes.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {
namespace {

/// Lines that a process has printed. Never freed: MPI_Finalize may follow static destructors.
struct PrintedLines {
  std::mutex mutex;
  std::set<std::string, std::less<>> lines;
};

PrintedLines& printed_lines() {
  static auto& printed = *new PrintedLines;
  return printed;
}

/// As rules count bytes: of a block, or of the vector.
std::uint64_t block_bytes(const CallSignature& call, Rank procs) {
  return has_one_vector(call.collective) ? call.total_bytes : call.total_bytes / procs;
}

std::string line_of(const Decision& decision, std::string_view algorithm, std::string_view reason,
                    const CommInfo& info) {
  const CallSignature& call = decision.signature;
  std::string text = "convene: " + std::string(name(call.collective)) + ", ";
  if (decision.depends_on_form && !call.is_blocking) text += "non-blocking, ";
  if (decision.any_size)
    text += "any size, ";
  else if (call.collective != Collective::barrier)
    text += format_size(block_bytes(call, info.procs)) + ", ";
  text += std::to_string(info.procs) + (info.procs == 1 ? " rank" : " ranks");
  if (is_rooted(call.collective) && !decision.any_root) text += ", root " + std::to_string(call.root);
  return text + ": " + std::string(algorithm) + " (" + std::string(reason) + ")\n";
}

}  // namespace

void log_choice(const Decision& decision, std::string_view algorithm, std::string_view reason,
                const CommInfo& info) {
  constexpr std::size_t most = 1000;
  if (settings().log != LogLevel::info || info.rank != 0) return;
  const std::string line = line_of(decision, algorithm, reason, info);
  PrintedLines& printed = printed_lines();
  const std::lock_guard lock(printed.mutex);
  if (printed.lines.size() >= most || !printed.lines.insert(line).second) return;
  std::fputs(line.c_str(), stderr);
  if (printed.lines.size() == most) std::fputs("convene: further choices are not printed\n", stderr);
}

void log_choice(const Decision& decision, const CommInfo& info) {
  if (decision.reason == Reason::trial) return;
  log_choice(decision, decision.algorithm(), reason_text(decision.reason, decision.reason_detail), info);
}

}  // namespace convene::runtime
