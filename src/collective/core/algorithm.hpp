// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm is to everybody else: a descriptor with a generator. Help, docs, the command line, the checker's
// loop and the benchmark's list are derived from it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "collective/core/collective.hpp"
#include "schedule/core/builder.hpp"
#include "schedule/online/online_algorithm.hpp"

namespace convene::collective {

/// A parameter of an algorithm: a whole number, or one of a list of words (then its value is the word's index).
struct Parameter {
  std::string_view name;
  std::string_view summary;
  std::int64_t fallback;  ///< its value where nobody gives one
  std::int64_t least = 0, most = 0;
  std::vector<std::string_view> words = {};
  std::vector<std::int64_t> samples = {};  ///< values that the checker's grid tries
  /// A list of numbers, each from `least` to `most` and at most 2^11 − 1, as list_value() packs it.
  bool is_list = false;
};

/// Up to so many numbers make one list.
inline constexpr std::size_t most_in_list = 5;
/// A list of numbers as one value; that of one number is the number itself.
constexpr std::int64_t list_value(std::initializer_list<std::int64_t> numbers) {
  std::int64_t value = 0;
  for (auto number = std::rbegin(numbers); number != std::rend(numbers); ++number)
    value = value << 11 | *number;
  return value;
}
/// And back.
std::vector<std::int64_t> list_of(std::int64_t value);

/// What an algorithm needs beyond "any P": each one is a question that has an answer for every call.
enum class Requirement : std::uint8_t { none, power_of_two, even };

/// A relabelling under which the schedules of all ranks are one: rank r's is rank 0's with every peer and every place p
/// of the output replaced by p + r (rotation) or p ^ r (exchange). Stated here, proved by a test for small P.
enum class Symmetry : std::uint8_t { none, rotation, exchange };

/// How an algorithm learns who comes late. `forecast`: from Call::arrivals, which the ranks agreed on before. `messages`:
/// from its own, as it runs; Call::arrivals is then when they come in the plan that is built.
enum class ArrivalSource : std::uint8_t { none, forecast, messages };

/// How a block is cut into its places: `evenly` into as many as the parameter "segments" says (one without it), or
/// into two, a `tiny_first` part and the rest.
enum class Cut : std::uint8_t { evenly, tiny_first };

struct Algorithm;

/// On which ranks a part of a composed algorithm runs: on all, on one of each node, on those of a node or of a group of it.
enum class Among : std::uint8_t { all, nodes, node, group };

/// One of the algorithms that a composed one runs.
struct PartSlot {
  std::string_view name;
  std::string_view summary;
  Collective collective;      ///< which it is an algorithm of
  std::string_view fallback;  ///< its name where none is given
  Among among = Among::all;
};

/// What an algorithm has that is composed of others. See collective/core/composition.hpp for how a call names its parts.
struct Composition {
  std::vector<PartSlot> parts;
  /// What the call does not have, the parts' requirements included: a clause; empty where all is well.
  std::string (*unmet)(const Algorithm& algorithm, const Call& call) = nullptr;
  /// How many places a block is cut into.
  std::uint32_t (*pieces)(const Algorithm& algorithm, const Call& call) = nullptr;
};

struct Algorithm {
  std::string_view name;
  std::string_view summary;  ///< one sentence
  std::string_view source;   ///< work, section
  std::vector<Collective> collectives;
  Requirement requirement = Requirement::none;
  Symmetry symmetry = Symmetry::none;
  ArrivalSource arrival_source = ArrivalSource::none;
  Cut cut = Cut::evenly;
  std::string_view rounds;  ///< rounds as a formula, for people
  std::vector<Parameter> parameters = {};
  /// The vector of a bcast is cut into as many places as there are processes.
  bool cuts_by_procs = false;
  /// Ranks pass on blocks that are not theirs. Where only the root knows the blocks' sizes, all must learn them first; where
  /// nobody does (alltoallv), all blocks are made as large as the largest.
  bool relays = false;
  /// It combines contributions in another order than that of the ranks, which an operator must allow.
  bool commutative_only = false;
  /// Of a neighborhood collective: it looks at the neighbours of other ranks too.
  bool needs_whole_graph = false;
  /// How many places so many ranks of a node share (Buffer::shared); more ranks never need fewer. Null for one that
  /// sends messages. All ranks of such an algorithm must be on one node.
  std::uint64_t (*shared_places)(Rank procs, std::span<const std::int64_t> parameters) = nullptr;
  /// How many places a block is cut into, where that is neither one, nor the parameter "segments", nor as many as there
  /// are processes.
  std::uint64_t (*pieces)(Rank procs, std::span<const std::int64_t> parameters) = nullptr;
  /// Null for one that is not composed.
  const Composition* composition = nullptr;
  /// Writes one rank's steps. Null for `native`, which is the MPI's own, and for what decides as it runs.
  void (*generate)(const Call& call, Builder& builder) = nullptr;
  /// Makes one rank's part of an algorithm that decides as it runs. It never needs Call::arrivals.
  std::unique_ptr<OnlineAlgorithm> (*make_online)(const Call& call) = nullptr;

  bool serves(Collective collective) const;
  bool is_native() const { return !generate && !make_online; }
  bool is_online() const { return make_online != nullptr; }
  bool is_composed() const { return composition != nullptr; }
  /// Index of a parameter, or -1.
  int find_parameter(std::string_view name) const;
  /// Of a composed one: its own parameters and its parts.
  std::vector<std::int64_t> default_parameters() const;
  /// Every combination of the parameters' samples (the defaults alone where there are none). Of a composed one: each
  /// algorithm that can be a part, once, while the samples of its own parameters take turns.
  std::vector<std::vector<std::int64_t>> sample_parameters() const;
};

/// Empty where the call has what the algorithm requires, else a clause such as "needs an even number of processes".
std::string unmet_requirement(const Algorithm& algorithm, const Call& call);
/// Likewise, with the parameters' own values. `commutative`: whether the operator of a reduction is.
std::string unmet_requirement(const Algorithm& algorithm, Rank procs, bool commutative = true);

/// Whether ranks pass on blocks that are not theirs: Algorithm::relays, of a part as well.
bool relays(const Algorithm& algorithm, std::span<const std::int64_t> parameters);

/// Whether ranks share memory: Algorithm::shared_places, of a part as well.
bool shares_memory(const Algorithm& algorithm, std::span<const std::int64_t> parameters);
/// How many places the ranks of the fullest node share.
std::uint64_t shared_places(const Algorithm& algorithm, const Call& call);
/// How many bytes the ranks of a node share at most, where nodes have at most so many ranks and a block so many bytes, in
/// items of so many; each place is padded to a cache line.
std::uint64_t shared_bytes(const Algorithm& algorithm, const Call& call, std::uint64_t block_bytes,
                           std::uint64_t item_bytes);
/// The size of one shared place, likewise: room for the largest of so many segments of a block.
std::uint64_t shared_place_bytes(std::uint64_t block_bytes, std::uint64_t item_bytes, std::uint32_t segments);

/// Whether a schedule depends on which ranks share a node (Call::nodes).
bool uses_nodes(const Algorithm& algorithm);
/// Likewise, or does without where nobody knows them.
bool depends_on_nodes(const Algorithm& algorithm);

/// Whether the bits of its result may depend on when ranks arrive: of a reduction that learns who comes late.
bool depends_on_arrivals(const Algorithm& algorithm, std::span<const std::int64_t> parameters);

/// How it learns who comes late; a composed one by forecast where one of its parts does.
ArrivalSource arrival_source(const Algorithm& algorithm, std::span<const std::int64_t> parameters);

/// Algorithm::make_online, for an online algorithm that is made of the call.
template <class OfOneRank>
std::unique_ptr<OnlineAlgorithm> make_online_algorithm(const Call& call) {
  return std::make_unique<OfOneRank>(call);
}

/// All algorithms, in the order in which people should read them.
std::span<const Algorithm* const> catalogue();
/// The algorithms of one collective.
std::vector<const Algorithm*> catalogue(Collective collective);

/// How many places a block takes under these parameters: what the algorithm's `pieces` says, the number of processes for
/// one that cuts by it, 2 where the first is tiny, the value of "segments", else 1; of a composed one, what its parts need.
std::uint32_t segments(const Algorithm& algorithm, const Call& call);
/// Likewise, of one that is not composed.
std::uint32_t segments(const Algorithm& algorithm, Rank procs, std::span<const std::int64_t> parameters);

/// One rank's schedule. The requirement must hold; throws std::logic_error where a generator breaks its own rules. Of an
/// algorithm that decides as it runs: what it does where the ranks come as Call::arrivals says.
Schedule build_schedule(const Algorithm& algorithm, const Call& call, Builder& builder);
/// What one rank is to run: its schedule or, of an algorithm that decides as it runs, its online.
Runnable build_runnable(const Algorithm& algorithm, const Call& call, Builder& builder);
/// All ranks' schedules; where it is asked to stop, those that it has come to.
Plan build_plan(const Algorithm& algorithm, Call call, const std::stop_token& stop = {});

}  // namespace convene::collective
