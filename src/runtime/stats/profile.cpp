// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/stats/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "mpi/functions.hpp"
#include "runtime/results/result_files.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {

void CallStats::add(std::uint64_t start, std::uint64_t end, std::uint64_t block_bytes) {
  constexpr std::uint64_t most_untimed = 30;
  constexpr std::uint64_t long_ticks = 20'000;    // some microseconds: such calls are all timed
  constexpr std::uint64_t ticks_apart = 160'000;  // some tens of microseconds between timed calls
  const std::uint64_t took = end - start, stands_for = ++calls - covered;
  const std::uint64_t period = (end - last_end) / stands_for;
  bytes += block_bytes;
  ++timed;
  covered = calls;
  ticks += took * stands_for;
  least = std::min(least, took);
  most = std::max(most, took);
  last = took;
  last_end = end;
  const std::uint64_t in_time = took > long_ticks ? 0 : ticks_apart / (period + 1);
  untimed = static_cast<std::uint8_t>(std::min({most_untimed, timed - 1, in_time}));
}

void CallStats::merge(const CallStats& other) {
  calls += other.calls;
  bytes += other.bytes;
  timed += other.timed;
  covered += other.covered;
  ticks += other.ticks;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

CallStats& CommProfile::find_or_add(Collective collective, std::string_view algorithm,
                                    std::string_view reason, unsigned size_class, bool ends_later) {
  for (CallStats& record : records)
    if (record.collective == collective && record.size_class == size_class &&
        record.ends_later == ends_later && record.algorithm == algorithm && record.reason == reason)
      return record;
  CallStats& added = records.emplace_back();
  added.collective = collective;
  added.algorithm = algorithm;
  added.reason = reason;
  added.size_class = size_class;
  added.ends_later = ends_later;
  return added;
}

void PhaseStats::merge(const PhaseStats& other) {
  runs += other.runs;
  phases += other.phases;
  forecasts += other.forecasts;
  phase_seconds += other.phase_seconds;
  error_seconds += other.error_seconds;
  messages += other.messages;
  early_messages += other.early_messages;
}

PhaseStats& CommProfile::find_or_add_phases(Collective collective, const std::string& algorithm) {
  for (PhaseStats& tally : phases)
    if (tally.collective == collective && tally.algorithm == algorithm) return tally;
  return phases.emplace_back(PhaseStats{.collective = collective, .algorithm = algorithm});
}

void CommProfile::merge(const CommProfile& other) {
  for (const PhaseStats& theirs : other.phases)
    find_or_add_phases(theirs.collective, theirs.algorithm).merge(theirs);
  for (const CallStats& theirs : other.records)
    find_or_add(theirs.collective, theirs.algorithm, theirs.reason, theirs.size_class).merge(theirs);
}

namespace {

const TickScale& tick_scale() {
  static const TickScale scale;
  return scale;
}

nlohmann::json to_json(const CallStats& record, double per_tick) {
  return {{"collective", name(record.collective)},
          {"algorithm", record.algorithm},
          {"reason", record.reason},
          {"calls", record.calls},
          {"timed", record.timed},
          {"bytes_per_block",
           record.calls ? static_cast<double>(record.bytes) / static_cast<double>(record.calls) : 0.},
          {"seconds_total", record.all_ticks() * per_tick},
          {"seconds_min", static_cast<double>(record.least) * per_tick},
          {"seconds_max", static_cast<double>(record.most) * per_tick}};
}

nlohmann::json to_json(const PhaseStats& tally) {
  return {{"collective", name(tally.collective)},
          {"algorithm", tally.algorithm},
          {"runs", tally.runs},
          {"phases", tally.phases},
          {"forecasts", tally.forecasts},
          {"phase_seconds", tally.phase_seconds},
          {"error_seconds", tally.error_seconds},
          {"messages", tally.messages},
          {"early_messages", tally.early_messages}};
}

nlohmann::json to_json(const ProgressThreadUsage& usage) {
  return {{"ran", usage.ran}, {"cpu_seconds", usage.cpu_seconds}, {"polls", usage.polls}};
}

nlohmann::json to_json(const CommProfile& profile, double per_tick) {
  nlohmann::json records = nlohmann::json::array();
  for (const CallStats& record : profile.records)
    if (record.calls > 0) records.push_back(to_json(record, per_tick));
  nlohmann::json phases = nlohmann::json::array();
  for (const PhaseStats& tally : profile.phases)
    if (tally.runs > 0) phases.push_back(to_json(tally));
  return {{"procs", profile.procs}, {"nodes", profile.nodes}, {"records", records}, {"phases", phases}};
}

std::string host_name() {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  pmpi.Get_processor_name(text, &length);
  return text;
}

}  // namespace

double seconds_per_tick() { return tick_scale().seconds_per_tick(); }

struct ProfileRegistry::State {
  std::mutex mutex;
  std::vector<CommProfile> retired;  // one for each shape
  std::vector<std::string> sentences;
  std::optional<ProgressThreadUsage> progress_thread;
};

ProfileRegistry::ProfileRegistry() : state_(new State) { tick_scale(); }

ProfileRegistry& ProfileRegistry::instance() {
  static ProfileRegistry ledger;
  return ledger;
}

void ProfileRegistry::retire(const CommProfile& profile) {
  const std::lock_guard lock(state_->mutex);
  for (CommProfile& kept : state_->retired)
    if (kept.procs == profile.procs && kept.nodes == profile.nodes) return kept.merge(profile);
  state_->retired.push_back({profile.procs, profile.nodes, {}});
  state_->retired.back().merge(profile);
}

void ProfileRegistry::declare(const std::string& sentence) {
  keep(sentence, settings().log != LogLevel::quiet);
}

void ProfileRegistry::warn(const std::string& sentence) {
  keep(sentence, settings().log != LogLevel::quiet || settings().profile_directory.empty());
}

void ProfileRegistry::note_progress_thread(const ProgressThreadUsage& usage) {
  const std::lock_guard lock(state_->mutex);
  state_->progress_thread = usage;
}

void ProfileRegistry::keep(const std::string& sentence, bool prints) {
  constexpr std::size_t most = 100;
  {
    const std::lock_guard lock(state_->mutex);
    auto& kept = state_->sentences;
    if (kept.size() >= most || std::find(kept.begin(), kept.end(), sentence) != kept.end()) return;
    kept.push_back(sentence);
  }
  int rank = 0;
  if (prints && pmpi.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0)
    std::fprintf(stderr, "convene: %s\n", sentence.c_str());
}

void ProfileRegistry::write(const std::deque<const CommProfile*>& live) {
  const std::string& directory = settings().profile_directory;
  if (directory.empty()) return;
  int rank = 0, procs = 1;
  pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  pmpi.Comm_size(MPI_COMM_WORLD, &procs);
  const double per_tick = seconds_per_tick();
  nlohmann::json communicators = nlohmann::json::array();
  const std::lock_guard lock(state_->mutex);
  for (const CommProfile* profile : live) {
    CommProfile merged{.procs = profile->procs, .nodes = profile->nodes};
    merged.merge(*profile);
    communicators.push_back(to_json(merged, per_tick));
  }
  for (const CommProfile& profile : state_->retired) communicators.push_back(to_json(profile, per_tick));
  nlohmann::json all = {{"rank", rank},
                        {"procs", procs},
                        {"stack", CONVENE_STACK_NAME},
                        {"library_version", mpi_library_version()},
                        {"host", host_name()},
                        {"communicators", communicators},
                        {"messages", state_->sentences}};
  if (state_->progress_thread) all["progress_thread"] = to_json(*state_->progress_thread);
  const std::string name = "profile-" + std::to_string(getpid()) + "-" + std::to_string(rank) + ".json";
  constexpr auto replace = nlohmann::json::error_handler_t::replace;  // a file's name need not be UTF-8
  results::Content content = [text = all.dump(-1, ' ', false, replace) + '\n'](const results::Sink& sink) {
    sink(text);
  };
  if (const std::string why = results::write(directory, name, std::move(content)); !why.empty())
    std::fprintf(stderr, "convene: cannot write the profile %s/%s: %s\n", directory.c_str(), name.c_str(),
                 why.c_str());
}

}  // namespace convene::runtime
