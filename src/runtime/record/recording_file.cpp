// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/record/recording_file.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "mpi/functions.hpp"
#include "runtime/results/result_files.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime::recorder {
namespace {

using nlohmann::json;

constexpr int format_version = 2;
constexpr std::size_t row_bytes = 3 * 8 + 2 * 2;

/// Location of an address: its object, its address within the object, the nearest symbol.
json place_of(const void* address) {
  json found = {{"address", reinterpret_cast<std::uintptr_t>(address)}};
  Dl_info info{};
  void* extra = nullptr;
  if (!address || dladdr1(address, &info, &extra, RTLD_DL_LINKMAP) == 0) return found;
  const auto* map = static_cast<const link_map*>(extra);
  found["object"] = info.dli_fname ? info.dli_fname : "";
  found["offset"] = reinterpret_cast<std::uintptr_t>(address) - (map ? map->l_addr : 0);
  if (info.dli_sname) found["symbol"] = info.dli_sname;
  return found;
}

/// The loader gives the program itself an empty name, or the name of its invocation.
std::string program() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "";
}

json to_json(const Recording::Site& site) {
  const bool is_rest = !site.key.address && site.calls > 0;
  const CallKey& call = site.key.call;
  json found = place_of(site.key.address);
  found["collective"] = is_rest ? "" : std::string(name(call.collective));
  found["root"] = call.root;
  found["blocking"] = site.key.is_blocking;
  found["calls"] = site.calls;
  return found;
}

json to_json(const CommonClock& clock, Nanoseconds first, Nanoseconds last) {
  if (!clock.is_known()) return nullptr;
  return {{"at", last},
          {"offset", clock.offset_at(last)},
          {"drift", clock.drift()},
          {"error", std::max(clock.error_at(first), clock.error_at(last))},
          {"same", clock.is_common_here()}};
}

json to_json(const Recording& recording, const TickLine& ticks) {
  json sites = json::array(), algorithms = json::array();
  for (const Recording::Site& site : recording.sites()) sites.push_back(to_json(site));
  for (const CallStats* record : recording.algorithms())
    algorithms.push_back({record->algorithm, record->reason});
  const std::uint64_t oldest = recording.oldest(), calls = recording.calls();
  const RecordedCommunicator& communicator = recording.communicator;
  const auto at = [&](std::uint64_t number) {
    return ticks.to_ns(calls == oldest ? ticks.start().ticks : recording.call(number).arrival);
  };
  return {{"name", communicator.name},
          {"operation", communicator.operation},
          {"operations", recording.operations()},
          {"members", communicator.members},
          {"rank", communicator.rank},
          {"first", oldest},
          {"calls", calls - oldest},
          {"clock", to_json(recording.clock(), at(oldest), at(calls - 1))},
          {"sites", sites},
          {"algorithms", algorithms}};
}

template <class Value>
void put(std::string& bytes, Value value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// A communicator's calls, one row each, in parts of limited size.
void put_rows(const Recording& recording, const TickLine& ticks, const results::Sink& sink) {
  constexpr std::size_t part_bytes = 4096 * row_bytes;
  std::string bytes;
  for (std::uint64_t number = recording.oldest(); number < recording.calls(); ++number) {
    if (bytes.size() >= part_bytes) sink(std::exchange(bytes, {}));
    const RecordedCall& call = recording.call(number);
    put(bytes, ticks.to_ns(call.arrival));
    put(bytes, call.exit == 0 ? std::int64_t{-1} : ticks.to_ns(call.exit));
    put(bytes, call.bytes);
    put(bytes, call.site);
    put(bytes, call.algorithm);
  }
  sink(bytes);
}

/// A group's ranks in MPI_COMM_WORLD, -1 for ranks outside it. Frees the group.
std::vector<int> in_world(MPI_Group group) {
  MPI_Group world = MPI_GROUP_NULL;
  pmpi.Comm_group(MPI_COMM_WORLD, &world);
  int size = 0;
  pmpi.Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), found(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  pmpi.Group_translate_ranks(group, size, ranks.data(), world, found.data());
  pmpi.Group_free(&group);
  pmpi.Group_free(&world);
  for (int& rank : found)
    if (rank == MPI_UNDEFINED) rank = -1;
  return found;
}

std::string host_name() {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  pmpi.Get_processor_name(text, &length);
  return text;
}

}  // namespace

RecordedCommunicator describe_communicator(const CommInfo& info) {
  MPI_Group group = MPI_GROUP_NULL;
  pmpi.Comm_group(info.comm, &group);
  RecordedCommunicator described{
      .members = in_world(group), .rank = static_cast<int>(info.rank), .name = {-1, 0, 0}};
  if (!info.is_inter) return described;
  pmpi.Comm_remote_group(info.comm, &group);
  std::vector<int> others = in_world(group);
  const int least = std::ranges::min(described.members), least_other = std::ranges::min(others);
  if (least < 0 || least_other < 0) return {};
  if (least_other < least) {
    described.rank += static_cast<int>(others.size());
    others.swap(described.members);
  }
  described.members.insert(described.members.end(), others.begin(), others.end());
  return described;
}

void name_communicator(MPI_Comm comm, RecordedCommunicator& communicator, CommonClock::Await await) {
  static std::atomic<std::int64_t> counter{0};
  std::int64_t name[3] = {communicator.members[0], getpid(), 0};
  if (communicator.rank == 0) name[2] = counter++;
  MPI_Request request = MPI_REQUEST_NULL;
  if (pmpi.Ibcast(name, sizeof name, MPI_BYTE, 0, comm, &request) != MPI_SUCCESS ||
      await(&request) != MPI_SUCCESS)
    return;
  std::copy(std::begin(name), std::end(name), communicator.name);
}

void write_recordings(const std::string& directory, const std::vector<const Recording*>& recordings,
                      TickLine ticks) {
  ticks.refresh();
  int rank = 0, procs = 1;
  pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
  pmpi.Comm_size(MPI_COMM_WORLD, &procs);
  json communicators = json::array();
  for (const Recording* recording : recordings) communicators.push_back(to_json(*recording, ticks));
  const json head = {{"convene_recording", format_version},
                     {"rank", rank},
                     {"procs", procs},
                     {"host", host_name()},
                     {"program", program()},
                     {"stack", CONVENE_STACK_NAME},
                     {"little_endian", std::endian::native == std::endian::little},
                     {"clock_domain", clock_domain()},
                     {"communicators", communicators}};
  const std::string name = "recording-" + std::to_string(getpid()) + "-" + std::to_string(rank) + ".bin";
  constexpr auto replace = json::error_handler_t::replace;  // a file name need not be UTF-8
  results::Content content = [recordings, ticks,
                              text = head.dump(-1, ' ', false, replace) + '\n'](const results::Sink& sink) {
    sink(text);
    for (const Recording* recording : recordings) put_rows(*recording, ticks, sink);
  };
  if (const std::string why = results::write(directory, name, std::move(content)); !why.empty())
    std::fprintf(stderr, "convene: cannot write the recording %s/%s: %s\n", directory.c_str(), name.c_str(),
                 why.c_str());
}

}  // namespace convene::runtime::recorder
