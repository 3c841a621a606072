// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/learned_wisdom.hpp"

#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/shared_wisdom.hpp"
#include "runtime/process/process.hpp"
#include "runtime/results/result_files.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stats/profile.hpp"

namespace convene::runtime {
namespace {

struct Learned {
  std::mutex mutex;
  std::vector<decide::LearnedEntry> entries;

  static Learned& instance() {
    static auto* const only = new Learned;  // never freed: MPI_Finalize may follow static destructors
    return *only;
  }
};

/// To the launching machine, whose `convene` merges it into the wisdom file there.
void return_learned(const std::vector<decide::LearnedEntry>& entries) {
  int rank = 0;
  pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string name = "wisdom-" + std::to_string(getpid()) + "-" + std::to_string(rank) + ".json";
  results::write("", name,
                 [text = decide::merged_wisdom("", name, entries, decide::today())](
                     const results::Sink& sink) { sink(text); });
}

/// Before the profile is written, which reports a failure.
void write_learned() {
  std::vector<decide::LearnedEntry> entries;
  {
    const std::lock_guard lock(Learned::instance().mutex);
    entries = std::move(Learned::instance().entries);
  }
  const std::string path = decide::wisdom_to_write(settings().wisdom_files);
  if (path.empty() || entries.empty()) return;
  // Later entries replace earlier ones: what a size decided by itself holds within a range, too.
  std::ranges::stable_partition(entries, [](const decide::LearnedEntry& each) {
    return each.entry.bytes.least < each.entry.bytes.most;
  });
  const MachineKey here = machine_here();
  for (decide::LearnedEntry& each : entries) each.entry.place = here;
  if (results::is_remote()) return return_learned(entries);
  if (const std::string why = decide::update_wisdom_file(path, entries, decide::today()); !why.empty())
    ProfileRegistry::instance().warn("what was learned is not kept: " + why);
}

}  // namespace

void add_learned(decide::LearnedEntry entry) {
  bool is_first = false;
  {
    const std::lock_guard lock(Learned::instance().mutex);
    is_first = Learned::instance().entries.empty();
    Learned::instance().entries.push_back(std::move(entry));
  }
  if (is_first) process::at_end(process::EndStage::drain, write_learned);
}

}  // namespace convene::runtime
