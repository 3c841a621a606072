// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/shared_wisdom.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "decide/wisdom_texts.hpp"
#include "runtime/call/failure.hpp"
#include "runtime/comm/consensus.hpp"
#include "runtime/results/result_files.hpp"
#include "runtime/settings/settings.hpp"
#include "runtime/stall/native_call_watch.hpp"
#include "runtime/stats/profile.hpp"
#include "topology/launched_ranks.hpp"

namespace convene::runtime {
namespace {

/// Never freed: MPI_Finalize may follow static destructors.
std::shared_ptr<const SharedWisdom>& world_wisdom() {
  static auto* const shared = new std::shared_ptr<const SharedWisdom>;
  return *shared;
}

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  if (!pmpi.Get_library_version || pmpi.Get_library_version(text.data(), &length) != MPI_SUCCESS) return "";
  return text.substr(0, static_cast<std::size_t>(length)).c_str();
}

/// The wisdom of the launching machine, whose files this one does not share.
FoundWisdom wisdom_of_launching_machine(const MachineKey& here) {
  decide::WisdomReading reading(here);
  const auto files = nlohmann::json::parse(results::fetch("wisdom"), nullptr, false);
  for (unsigned index = 0; files.is_array() && index < files.size(); ++index) {
    const std::string path = files[index].value("path", ""), refusal = files[index].value("refusal", "");
    if (refusal.empty())
      reading.take(files[index].value("text", ""), path, index);
    else
      reading.refuse(path, refusal);
  }
  return {reading.wisdom(), reading.refusals()};
}

/// What rank 0 has read: a line that names the node, then the entries that communicators of these ranks may
/// use. Empty where there are none. Does not throw: the other ranks wait for the answer.
std::string read_here(Rank procs) noexcept try {
  const MachineKey here = machine_here();
  const FoundWisdom found =
      results::is_remote() ? wisdom_of_launching_machine(here) : read_wisdom(settings().wisdom_files, here);
  for (const std::string& each : found.refusals) ProfileRegistry::instance().declare(each);
  const Wisdom usable = found.wisdom.up_to(procs);
  if (usable.is_empty()) return "";
  return here.cpu + "\t" + std::to_string(here.cores) + "\n" + usable.lines();
} catch (...) {
  code_of_exception();
  return "";
}

/// The selection with the wisdom in a text; null where this node is another one than the text's, or without
/// memory.
std::unique_ptr<Selection> selection_from(std::string_view text, std::uint64_t& cores) noexcept try {
  const MachineKey here = this_machine("");
  const std::string head = here.cpu + "\t" + std::to_string(here.cores) + "\n";
  if (!text.starts_with(head)) return nullptr;
  auto wisdom = std::make_shared<const Wisdom>(Wisdom::from_lines(text.substr(head.size())));
  cores = here.cores;
  return std::make_unique<Selection>(settings().selection.with(std::move(wisdom)));
} catch (...) {
  code_of_exception();
  return nullptr;
}

std::string broadcast(std::string text, const CommInfo& info) {
  std::int64_t bytes = static_cast<std::int64_t>(text.size());
  if (pmpi.Bcast(&bytes, 1, MPI_INT64_T, 0, info.comm) != MPI_SUCCESS || bytes <= 0) return "";
  text.resize(static_cast<std::size_t>(bytes));
  if (pmpi.Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, 0, info.comm) != MPI_SUCCESS) return "";
  return text;
}

/// Reads at rank 0. All ranks return equal wisdom. Collective.
SharedWisdom share(const CommInfo& info) {
  const ErrorsReturned scope(info.comm);
  SharedWisdom shared{.selection = settings().selection};
  const std::string text = broadcast(info.rank == 0 ? read_here(info.procs) : "", info);
  if (text.empty()) return shared;
  std::uint64_t cores = 0;
  const std::unique_ptr<Selection> made = selection_from(text, cores);
  if (!on_all_ranks(made != nullptr, info.comm)) {
    ProfileRegistry::instance().declare("wisdom is ignored: the nodes of this run have different processors");
    return shared;
  }
  shared.machine.cores = cores;
  shared.selection = *made;
  return shared;
}

/// Whether all ranks of a communicator are of MPI_COMM_WORLD: equal on all its ranks, since a rank of another
/// group sees the others as strangers.
bool is_within_world(const CommInfo& info) {
  if (info.comm == MPI_COMM_WORLD) return true;
  const std::vector<int> ranks = ranks_in_world(info);
  return std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

/// A number for this node's processor and cores; 0 without memory. Does not throw: the other ranks wait for
/// it.
std::int64_t hash_of_node(std::uint64_t& cores) noexcept try {
  const MachineKey here = this_machine("");
  cores = here.cores;
  return static_cast<std::int64_t>(std::hash<std::string>{}(here.cpu + "\t" + std::to_string(cores)) >> 1);
} catch (...) {
  code_of_exception();
  return 0;
}

/// As far as this rank knows; 0: unknown. Where all of MPI_COMM_WORLD, or ranks of other groups, are in the
/// communicator, its own ranks count: equal on all ranks.
Rank ranks_of_world_per_node(const CommInfo& info, Rank ranks_per_node) noexcept try {
  const bool is_all = info_of(MPI_COMM_WORLD).procs == info.procs;
  return is_all || !is_within_world(info) ? ranks_per_node : launched_ranks_per_node();
} catch (...) {
  code_of_exception();
  return 0;
}

}  // namespace

MachineKey machine_here() { return this_machine(library_version()); }

SharedMachine agree_on_machine(const CommInfo& info, Rank ranks_per_node) {
  SharedMachine machine;
  const std::int64_t hash = hash_of_node(machine.cores);
  const Rank ranks = ranks_of_world_per_node(info, ranks_per_node);
  // The least hash and its opposite, then the same of the ranks.
  const std::int64_t mine[] = {hash, -hash, ranks, -static_cast<std::int64_t>(ranks)};
  std::int64_t least[std::size(mine)] = {};
  const NativeCallWatch inside(static_cast<int>(info.procs));
  const ErrorsReturned scope(info.comm);
  progressing_barrier(info.comm);
  const int code = pmpi.Allreduce(mine, least, std::size(mine), MPI_INT64_T, MPI_MIN, info.comm);
  const bool is_alike = least[0] == -least[1] && hash != 0;
  if (code != MPI_SUCCESS || !is_alike || least[2] == 0) return {};
  machine.ranks_per_node = static_cast<Rank>(-least[3]);
  return machine;
}

void share_wisdom_in_world() noexcept try {
  if (settings().wisdom_files.empty()) return;
  const CommInfo world = info_of(MPI_COMM_WORLD);
  auto shared = std::make_shared<SharedWisdom>(share(world));
  if (shared->machine.is_known()) {
    NodeTopology nodes(world);
    nodes.find();
    shared->places_in_world = nodes.places();
    shared->machine.ranks_per_node = nodes.ranks_per_node();
  }
  world_wisdom() = std::move(shared);
} catch (...) {
  code_of_exception();
}

void check_optional_rules() {
  if (!settings().rules_may_be_absent) return;
  const CommInfo world = info_of(MPI_COMM_WORLD);
  const unsigned long long hash = settings().optional_rules_hash;
  unsigned long long mine[2] = {hash, ~hash}, least[2] = {hash, ~hash};
  pmpi.Allreduce(mine, least, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, world.comm);
  if (least[0] == ~least[1]) return;
  refuse("the optional rules file " + settings().optional_rules_path +
             " differs between nodes, or is absent on some; give all nodes the same file (CONVENE_RULES)",
         world.rank == 0);
}

bool world_wisdom_is_native() {
  const auto& shared = world_wisdom();
  return !shared || shared->selection.all_native();
}

std::shared_ptr<const SharedWisdom> wisdom_of_world(const CommInfo& info) {
  const auto& shared = world_wisdom();
  return shared && is_within_world(info) ? shared : nullptr;
}

std::shared_ptr<const SharedWisdom> agree_on_wisdom(const CommInfo& info) {
  const NativeCallWatch inside(static_cast<int>(info.procs));
  progressing_barrier(info.comm);
  return std::make_shared<const SharedWisdom>(share(info));
}

}  // namespace convene::runtime
