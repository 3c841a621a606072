// SPDX-License-Identifier: BSD-3-Clause
// Descriptors of algorithms: name, requirements, parameters and generator, as constant data. Help, docs, the
// command line, the checker's loop and the benchmark's list derive from them.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "collective/core/call.hpp"
#include "collective/core/parameter.hpp"
#include "collective/core/shared_work.hpp"
#include "schedule/core/builder.hpp"
#include "schedule/online/online_algorithm.hpp"

namespace convene::collective {

/// Requirement on the number of processes.
enum class Requirement : std::uint8_t { none, power_of_two, even };

/// Relabelling under which the schedules of all ranks are one: rank r's is rank 0's with every peer and every
/// place p of the output replaced by p + r (rotation) or p ^ r (exchange). Stated here, proved by a test for
/// small P.
enum class Symmetry : std::uint8_t { none, rotation, exchange };

/// Source of an algorithm's knowledge of late ranks. `forecast`: from Call::arrivals, which the ranks agreed
/// on before. `messages`: from its own messages, as it runs; Call::arrivals then gives the arrivals of the
/// plan that is built.
enum class ArrivalSource : std::uint8_t { none, forecast, messages };

/// How a block is cut into places: `evenly` into the number that the parameter "segments" gives (one without
/// it), or into two, the first part and the rest: a tiny one (`tiny_first`), or the bytes that the parameter
/// "head" gives, fewer if the block has fewer (`head_first`; not of a part of a composition).
enum class Cut : std::uint8_t { evenly, tiny_first, head_first };

/// Ranks on which a part of a composed algorithm runs: all, one of each node, those of a node, those of a
/// group of a node.
enum class Among : std::uint8_t { all, nodes, node, group };

/// Slot of a composed algorithm: the algorithms that can be this part.
struct PartSlot {
  std::string_view name;
  std::string_view summary;
  Collective collective;      ///< that the part is an algorithm of
  std::string_view fallback;  ///< name of the default part
  Among among = Among::all;
  bool moves_all = false;  ///< each block of the part is one for every rank of the whole, not a single one
};

/// Descriptor of a composition. A call names the parts (Call::parts).
struct Composition {
  std::span<const PartSlot> parts;
  /// The requirement that a call does not meet, its parts' included: a clause, or empty.
  std::string (*unmet)(const Algorithm& algorithm, const Call& call) = nullptr;
  /// Number of places of a block.
  std::uint32_t (*pieces)(const Algorithm& algorithm, const Call& call) = nullptr;
  /// True if it divides nodes into their domains (Call::domains). Null: false.
  bool (*divides_nodes)(std::span<const Value> parameters) = nullptr;
  /// Number of places that the ranks of a node share, its parts' included, where domains matter. Null: a part
  /// that divides nodes cannot share memory.
  std::uint64_t (*shared_places)(const Algorithm& algorithm, const Call& call) = nullptr;
};

/// Function that writes one rank's steps. Two forms: with and without the work that the ranks of a plan
/// share.
class Generator {
 public:
  using Plain = void (*)(const Call& call, Builder& builder);
  using SharingFunction = void (*)(const Call& call, SharedWork& work, Builder& builder);

  constexpr Generator() = default;
  template <std::convertible_to<Plain> Function>
  constexpr Generator(Function function) : plain_(function) {}  // NOLINT(google-explicit-constructor)
  template <std::convertible_to<SharingFunction> Function>
  constexpr Generator(Function function) : sharing_(function) {}  // NOLINT(google-explicit-constructor)

  constexpr explicit operator bool() const { return plain_ || sharing_; }
  void operator()(const Call& call, SharedWork& work, Builder& builder) const {
    if (plain_) return plain_(call, builder);
    sharing_(call, work, builder);
  }
  void operator()(const Call& call, Builder& builder) const {
    SharedWork work;
    (*this)(call, work, builder);
  }

 private:
  Plain plain_ = nullptr;
  SharingFunction sharing_ = nullptr;
};

/// Descriptor of an algorithm. Constant data: `extern constinit const Algorithm allgather_ring = {…};`.
struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  std::string_view source;   ///< work, section
  CollectiveSet collectives;
  Requirement requirement = Requirement::none;
  Symmetry symmetry = Symmetry::none;
  ArrivalSource arrival_source = ArrivalSource::none;
  Cut cut = Cut::evenly;
  std::string_view rounds;  ///< a formula, for people
  std::span<const Parameter> parameters = {};
  /// The vector of a bcast is cut into as many places as there are processes.
  bool cuts_by_procs = false;
  /// Ranks forward blocks of other ranks. If only the root knows the blocks' sizes, all ranks must learn them
  /// first; if no rank knows all (alltoallv), every block takes the size of the largest.
  bool relays = false;
  /// Combines contributions in another order than that of the ranks: needs a commutative operator.
  bool commutative_only = false;
  /// Of a neighborhood collective: depends on the neighbours of other ranks, too.
  bool needs_whole_graph = false;
  /// Places its messages by Call::nodes where they are known. It is not composed.
  bool prefers_nodes = false;
  /// Number of places that `procs` ranks of a node share (Buffer::shared); it never falls with `procs`. Null
  /// for an algorithm that sends messages. All ranks must be on one node.
  std::uint64_t (*shared_places)(Rank procs, std::span<const Value> parameters) = nullptr;
  /// The block of which a shared place holds segments, where all ranks know the sizes of all blocks: then the
  /// place need not be larger. Null: it may hold any block.
  Rank (*block_in_place)(Place shared) = nullptr;
  /// True if every signal passes on one place that the rank has written or received, and no rank gives
  /// another one two signals. Then signals can carry the data of short places. Null: false.
  bool (*signals_can_carry)(Rank procs, std::span<const Value> parameters) = nullptr;
  /// Number of places of a block, where it is neither one, nor the parameter "segments", nor the number of
  /// processes.
  std::uint64_t (*pieces)(Rank procs, std::span<const Value> parameters) = nullptr;
  /// Null for an algorithm that is not composed.
  const Composition* composition = nullptr;
  /// Null for `native` and for an online algorithm.
  Generator generate = {};
  /// Of an online algorithm: creates one rank's instance. Does not depend on Call::arrivals.
  std::unique_ptr<OnlineAlgorithm> (*make_online)(const Call& call) = nullptr;

  bool serves(Collective collective) const { return collectives.contains(collective); }
  bool is_native() const { return !generate && !make_online; }
  bool is_online() const { return make_online != nullptr; }
  bool is_composed() const { return composition != nullptr; }
  /// Index of a parameter, or -1.
  int find_parameter(std::string_view name) const;
  std::vector<Value> default_parameters() const;
  /// Every combination of the parameters' samples (only the defaults if there are none).
  std::vector<std::vector<Value>> sample_parameters() const;
};

/// With the default parameters and parts.
Spec default_spec(const Algorithm& algorithm);
/// For the checker's grid: with sample_parameters(). Of a composed one: each algorithm that can be a part,
/// once, while the samples of its own parameters alternate.
std::vector<Spec> sample_specs(const Algorithm& algorithm);

/// The requirement that a call does not meet: a clause such as "needs an even number of processes", or empty.
/// Throws std::logic_error if a call of a composed algorithm does not name its parts.
std::string unmet_requirement(const Algorithm& algorithm, const Call& call);
/// The same with default parameters and parts. `commutative`: of a reduction's operator.
std::string unmet_requirement(const Algorithm& algorithm, Rank procs, bool commutative = true);

/// True if ranks forward blocks of other ranks: Algorithm::relays, of a part as well.
bool relays(const Spec& spec);

/// True if ranks share memory: Algorithm::shared_places, of a part as well.
bool shares_memory(const Spec& spec);
/// Number of places that the ranks of the fullest node share.
std::uint64_t shared_places(const Algorithm& algorithm, const Call& call);
/// Bytes that the ranks of the fullest node share, for the given sizes of blocks and items. Each place is
/// padded to a cache line.
std::uint64_t shared_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes,
                           std::uint64_t item_bytes);
/// Bytes of one shared place: large enough for the largest segment of a block.
std::uint64_t shared_place_bytes(std::uint64_t block_bytes, std::uint64_t item_bytes, std::uint32_t segments);

/// Bytes of a block's first place if the cut is Cut::head_first, else 0.
std::uint64_t head_bytes(const Algorithm& algorithm, std::span<const Value> parameters);

/// True if it requires Call::nodes, the node of each rank.
bool uses_nodes(const Algorithm& algorithm);
/// True if its schedule depends on Call::nodes, also if it can do without them.
bool depends_on_nodes(const Algorithm& algorithm);

/// True if its schedule depends on Call::domains: of a part as well.
bool depends_on_domains(const Spec& spec);
bool depends_on_domains(const Algorithm& algorithm, std::span<const Value> parameters,
                        std::span<const Spec> parts);

/// True if the bits of its result may depend on arrivals: of a reduction with an arrival source.
bool depends_on_arrivals(const Spec& spec);

/// Algorithm::arrival_source; of a composed algorithm `forecast` if that is the source of a part.
ArrivalSource arrival_source(const Spec& spec);

/// Algorithm::make_online for an online algorithm that is constructed from the call.
template <class OfOneRank>
std::unique_ptr<OnlineAlgorithm> make_online_algorithm(const Call& call) {
  return std::make_unique<OfOneRank>(call);
}

/// All algorithms, in the order in which they are listed.
std::span<const Algorithm* const> catalogue();
/// The algorithms of one collective.
std::vector<const Algorithm*> catalogue(Collective collective);

/// Number of places of a block under a call's parameters: Algorithm::pieces, the number of processes if it
/// cuts by that, 2 if one is the first part, the value of "segments", else 1; of a composed algorithm
/// Composition::pieces.
std::uint32_t segments(const Algorithm& algorithm, const Call& call);
/// The same, of an algorithm that is not composed.
std::uint32_t segments(const Algorithm& algorithm, Rank procs, std::span<const Value> parameters);

/// One rank's schedule. The requirement must hold. Of an online algorithm: its steps if the ranks arrive as
/// in Call::arrivals. Throws std::logic_error if a generator violates its own rules.
Schedule build_schedule(const Algorithm& algorithm, const Call& call, Builder& builder);
/// The same, with the work that the ranks of a plan share.
Schedule build_schedule(const Algorithm& algorithm, const Call& call, SharedWork& work, Builder& builder);
/// What one rank executes: its schedule or its instance of an online algorithm.
Runnable build_runnable(const Algorithm& algorithm, const Call& call, Builder& builder);
/// All ranks' schedules; fewer if `stop` was requested.
Plan build_plan(const Algorithm& algorithm, Call call, const std::stop_token& stop = {});
/// All ranks' schedules, with work that is shared with other plans of calls with the same graph.
Plan build_plan(const Algorithm& algorithm, Call call, SharedWork& work, const std::stop_token& stop);

}  // namespace convene::collective
