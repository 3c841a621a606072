// SPDX-License-Identifier: BSD-3-Clause
// Simulations: one algorithm on a platform, for several sizes and arrivals.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stop_token>

#include "base/error.hpp"
#include "binding.hpp"
#include "schedule/core/describe.hpp"
#include "simulate/engine/simulator.hpp"
#include "simulate/platform/network.hpp"
#include "simulate/platform/simgrid.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

constexpr Rank most_procs = 1u << 20;
// Of a plan that is written out: some gigabytes, enough for the linear algorithms of 4,096 ranks.
constexpr std::uint64_t most_steps = 36'000'000;
constexpr std::uint64_t most_played = 1ull << 28;  // of one that is relabelled

/// What the places of a scratch buffer are like; empty for the call's own buffers.
std::span<const Place> likeness(const Schedule& schedule, Buffer buffer) {
  return buffer >= Buffer::scratch ? schedule.sized_like(buffer) : std::span<const Place>();
}

/// How many bytes places have where each rank's block has a size of its own (allgather, gather, scatter and
/// their irregular forms: a buffer has the own block, or all).
class BlockSizes {
 public:
  BlockSizes(const std::vector<double>& blocks, Cut cut, std::uint32_t segments)
      : blocks_(blocks), cut_(cut), segments_(segments) {}

  double of(const Schedule& schedule, std::span<const Range> ranges) const {
    double sum = 0;
    for (const Range& range : ranges) {
      const std::uint32_t places = schedule.places(range.buffer());
      const std::span<const Place> like = likeness(schedule, range.buffer());
      const Place own = places == segments_ && blocks_.size() > 1 ? schedule.rank() * segments_ : 0;
      for_each_place(range, places,
                     [&](Place place) { sum += of(like.empty() ? own + place : like[place]); });
    }
    return sum;
  }

 private:
  static constexpr double tiny = 8;  // bytes: the part of a block that says that the rest is ready

  double of(Place place) const {
    const double block = blocks_.at(place / segments_);
    if (cut_ != Cut::tiny_first) return block / segments_;
    const double first = std::min(tiny, block / 2);
    return place % segments_ == 0 ? first : block - first;
  }

  const std::vector<double>& blocks_;
  const Cut cut_;
  const std::uint32_t segments_;
};

/// Whether one rank's schedule may stand for all, where there are many.
bool is_alike(const Algorithm& algorithm, const Call& call, SharedWork& work) {
  constexpr Rank many = 4096;  // fewer are written out in a second
  if (call.procs < many || algorithm.symmetry == Symmetry::none) return false;
  if (segments(algorithm, call) > 1) return false;  // which may be unequal
  Builder builder;
  const auto steps = [&](Rank rank) { return extent_of(algorithm, call, rank, builder, &work).steps; };
  return steps(call.procs - 1) == steps(0);
}

/// What must not be too much: the steps or, before anything is simulated, the time to build schedules as
/// well. (That is not asked again with each play: it differs, and hours of work would be lost.)
enum class Asks : std::uint8_t { for_steps, for_time_too };

/// Why something is too much to be simulated; empty where it is not.
std::string refusal_of(const Spec& spec, const Call& call, bool is_one_for_all, Asks asks, SharedWork& work,
                       const std::stop_token& stop) {
  const std::uint64_t most = is_one_for_all ? most_played : most_steps;
  Extent extent = expected_extent(*spec.algorithm, call, most, stop, &work);
  if (is_one_for_all || asks == Asks::for_steps) extent.seconds = 0;
  return extent.refusal("simulating " + spec_text(spec) + " on " + std::to_string(call.procs) + " processes",
                        most);
}

/// What is simulated: all ranks' schedules or, where there are many ranks and the algorithm has a symmetry,
/// rank 0's.
class PreparedPlan {
 public:
  /// `apart`: blocks have sizes of their own.
  PreparedPlan(const Spec& spec, Call call, bool apart, const std::stop_token& stop)
      : collective_(call.collective) {
    const Algorithm& algorithm = *spec.algorithm;
    SharedWork work;
    const bool is_one_for_all = !apart && is_alike(algorithm, call, work);
    if (const std::string refusal = refusal_of(spec, call, is_one_for_all, Asks::for_steps, work, stop);
        !refusal.empty())
      throw Error(refusal);
    if (stop.stop_requested()) throw Interrupted();
    Builder builder;
    one_ = std::make_unique<Schedule>(build_schedule(algorithm, call, work, builder));
    if (!is_one_for_all) {
      plan_ = std::make_unique<Plan>(build_plan(algorithm, call, work, stop));
      if (stop.stop_requested()) throw Interrupted();
      workload_ = std::make_unique<Workload>(Workload::of(*plan_));
      return;
    }
    workload_ = std::make_unique<Workload>(Workload::relabelled(
        *one_, algorithm.symmetry == Symmetry::exchange ? Relabelling::exchange : Relabelling::rotation));
  }

  /// Blocks of equal size.
  void set_bytes(double per_block, std::uint32_t segments) {
    const double item = item_bytes(per_block), items = per_block / item;
    if (items >= segments || items != std::floor(items)) return workload_->set_bytes(per_block / segments);
    // Fewer items than segments: some of these are empty, and no messages of theirs are sent.
    workload_->set_bytes(
        [&](const Schedule& schedule, std::span<const Range> ranges) {
          double sum = 0;
          for (const Range& range : ranges) {
            const std::span<const Place> like = likeness(schedule, range.buffer());
            for_each_place(range, schedule.places(range.buffer()), [&](Place place) {
              sum += item * items_of_part(items, (like.empty() ? place : like[place]) % segments, segments);
            });
          }
          return sum;
        },
        Workload::Empty::omitted);
  }

  /// Blocks of these sizes, by rank; messages without bytes are left out, as when the schedule is executed.
  void set_blocks(const std::vector<double>& blocks, const Algorithm& algorithm, std::uint32_t segments) {
    const BlockSizes sizes(blocks, algorithm.cut, segments);
    workload_->set_bytes(
        [&](const Schedule& schedule, std::span<const Range> ranges) { return sizes.of(schedule, ranges); },
        Workload::Empty::omitted);
  }

  /// What the executor goes through on each rank, where it does not take what comes first.
  void compile_orders() {
    const auto compile = [&](const Schedule& schedule) {
      const bool takes_any = schedule.places(Buffer::shared) == 0 && has_independent_arrivals(schedule);
      orders_.push_back(takes_any ? Order() : compile_order(schedule));
    };
    if (plan_)
      std::ranges::for_each(*plan_, compile);
    else
      compile(*one_);
  }

  const Workload& workload() const { return *workload_; }
  std::span<const Order> orders() const { return orders_; }
  std::uint32_t rounds() const { return std::max(one_->rounds(), 1u); }

 private:
  /// What a block is not cut within. Vectors that are reduced are of doubles, where they can be.
  double item_bytes(double per_block) const {
    constexpr double of_double = 8;
    return is_reduction(collective_) && std::fmod(per_block, of_double) == 0 ? of_double : 1;
  }

  /// As the executor cuts a block (execute/memory.hpp).
  static double items_of_part(double items, std::uint32_t part, std::uint32_t parts) {
    return std::floor(items * (part + 1) / parts) - std::floor(items * part / parts);
  }

  const Collective collective_;
  std::unique_ptr<Schedule> one_;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Workload> workload_;
  std::vector<Order> orders_;
};

/// What a run says, in seconds. The busiest channel of each kind stands for its kind.
struct Summary {
  double slowest = 0, mean = 0, waiting = 0;
  std::uint64_t messages = 0;
  double bytes = 0;
  std::map<std::string, double> busiest;
  std::vector<CriticalStep> path;
  std::vector<double> exits;  // where they are asked for
};

Summary summarize(const SimulationResult& result, const std::vector<double>& arrivals,
                  const SimulatedNetwork& network, bool exits) {
  Summary summary;
  if (exits) summary.exits = result.exits;
  const auto procs = static_cast<double>(arrivals.size());
  const double first = *std::min_element(arrivals.begin(), arrivals.end());
  summary.slowest = result.end - first;
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank)
    summary.mean += (result.exits[rank] - arrivals[rank]) / procs;
  summary.waiting = std::accumulate(result.waiting.begin(), result.waiting.end(), 0.0) / procs;
  summary.messages = result.messages;
  summary.bytes = result.bytes;
  for (const ChannelUse& use : result.channels) {
    double& busiest = summary.busiest[network.kind(use.channel)];
    busiest = std::max(busiest, summary.slowest > 0 ? use.seconds / summary.slowest : 0);
  }
  summary.path = result.critical_path;
  return summary;
}

nb::dict describe(const Summary& summary) {
  nb::dict dict, channels;
  dict["seconds"] = summary.slowest;
  dict["mean"] = summary.mean;
  dict["waiting"] = summary.waiting;
  dict["messages"] = summary.messages;
  dict["bytes"] = summary.bytes;
  for (const auto& [kind, busy] : summary.busiest) channels[kind.c_str()] = busy;
  dict["channels"] = channels;
  nb::list path;
  for (const CriticalStep& step : summary.path) {
    nb::dict item;
    item["rank"] = step.rank;
    item["step"] = step.step;
    item["kind"] = str(name(step.kind));
    item["round"] = step.round;
    item["ready"] = step.ready;
    item["finished"] = step.finished;
    item["waited"] = step.waited;
    path.append(item);
  }
  dict["critical_path"] = path;
  if (!summary.exits.empty()) dict["exits"] = summary.exits;
  return dict;
}

using Rows = std::vector<std::vector<double>>;
using Forecasts = std::vector<std::vector<std::int32_t>>;

struct Simulation {
  Spec spec;
  Call call;
  SimulatedPlatform platform;
  std::string placement;
  SimulationOptions options;
  Rows arrivals;                          // patterns
  Forecasts forecasts;                    // none, or one for each pattern
  Rows begins;                            // none, or one for each pattern
  Rows blocks;                            // none, or one for each size
  bool exits = false;                     // whether to tell those of every rank
  bool ordered = false;                   // whether ranks go through their steps as the executor does
  std::function<void()> on_play = [] {};  // told after each

  /// When ranks come, in rounds of so many seconds after the first.
  static std::vector<std::int32_t> in_rounds(const std::vector<double>& arrivals, double round) {
    const double first = *std::min_element(arrivals.begin(), arrivals.end());
    std::vector<std::int32_t> rounds;
    for (const double arrival : arrivals)
      rounds.push_back(static_cast<std::int32_t>(std::min(std::round((arrival - first) / round), 1e6)));
    return rounds;
  }

  /// Seconds that a round of a balanced call takes.
  double balanced_round(double bytes, const Seating& seating) const {
    PreparedPlan balanced(spec, call, false, options.stop);
    balanced.set_bytes(bytes, segments(*spec.algorithm, call));
    const std::vector<double> together(call.procs, 0.0);
    const double end = run_simulation(balanced.workload(), platform, seating, together, options).end;
    return std::max(end / balanced.rounds(), 1e-12);  // one rank alone needs none
  }

  /// Each pattern of arrivals has noise of its own, the same for all sizes. What ranks decide as they run
  /// they decide for rounds as long as those of a balanced call.
  std::vector<Summary> run(const std::vector<double>& sizes) const {
    const Seating seating = seat(platform, placement, call.procs);
    const SimulatedNetwork network(platform, seating);
    const std::uint32_t pieces = segments(*spec.algorithm, call);
    std::unique_ptr<PreparedPlan> prepared;
    Call current = call;
    std::vector<Summary> result;
    const bool decides = spec.algorithm->is_online();
    for (std::size_t size = 0; size < sizes.size(); ++size) {
      bool is_sized = false;
      SimulationOptions each = options;
      double round = 0;  // seconds, of an algorithm that decides as it runs
      for (std::size_t i = 0; i < arrivals.size(); ++i, ++each.noise.stream) {
        std::vector<std::int32_t> expected = forecasts.empty() ? current.arrivals : forecasts[i];
        if (decides) {
          if (round == 0) round = balanced_round(sizes[size], seating);
          expected = in_rounds(arrivals[i], round);
        }
        if (!prepared || expected != current.arrivals) {
          current.arrivals = std::move(expected);
          prepared.reset();  // before the next one takes memory
          prepared = std::make_unique<PreparedPlan>(spec, current, !blocks.empty(), options.stop);
          if (ordered && !decides) prepared->compile_orders();
          is_sized = false;
        }
        if (!is_sized && blocks.empty()) prepared->set_bytes(sizes[size], pieces);
        if (!is_sized && !blocks.empty()) prepared->set_blocks(blocks[size], *spec.algorithm, pieces);
        is_sized = true;
        if (!begins.empty()) each.begins = begins[i];
        if (each.stop.stop_requested()) throw Interrupted();
        each.orders = prepared->orders();
        result.push_back(summarize(run_simulation(prepared->workload(), platform, seating, arrivals[i], each),
                                   arrivals[i], network, exits));
        on_play();
      }
    }
    return result;
  }

  /// Throws Error where lists do not belong together.
  void require_fitting(std::size_t sizes) const {
    if (!forecasts.empty() && arrival_source(spec) != ArrivalSource::forecast)
      throw Error(std::string(spec.algorithm->name) + " uses no forecast of arrivals");
    if ((!forecasts.empty() && forecasts.size() != arrivals.size()) ||
        (!begins.empty() && begins.size() != arrivals.size()))
      throw Error("forecasts and beginnings need one row for each pattern of arrivals");
    for (const auto& forecast : forecasts)
      if (forecast.size() != call.procs || std::ranges::any_of(forecast, [](auto at) { return at < 0; }))
        throw Error("a forecast needs a number of rounds from 0 on for each process");
    if (ordered && !begins.empty()) throw Error("ranks that begin before they arrive have no order of steps");
    if (!blocks.empty() && blocks.size() != sizes) throw Error("blocks need one row for each size");
    constexpr Collective with_blocks[] = {Collective::allgather, Collective::allgatherv,
                                          Collective::gather,    Collective::gatherv,
                                          Collective::scatter,   Collective::scatterv};
    if (!blocks.empty() && std::ranges::find(with_blocks, call.collective) == std::end(with_blocks))
      throw Error(std::string(name(call.collective)) + " cannot be simulated with unequal blocks");
    for (const auto& row : blocks)
      if (row.size() != call.procs) throw Error("blocks need one size for each process");
  }
};

Simulation make_simulation(const std::string& collective, const std::string& text, Rank procs,
                           const std::string& platform, const std::string& file,
                           const std::string& placement) {
  Simulation simulation;
  simulation.call.collective = parse_collective(collective);
  simulation.spec = parse_spec(simulation.call.collective, text);
  if (simulation.spec.algorithm->is_native())
    throw Error("native is the MPI library's own algorithm: Convene has no schedule of it to simulate");
  if (procs < 1 || procs > most_procs)
    throw Error("the number of processes must be from 1 to " + std::to_string(most_procs) + ", not " +
                std::to_string(procs));
  simulation.call.procs = procs;
  simulation.call.parameters = simulation.spec.parameters;
  simulation.call.parts = simulation.spec.parts;
  simulation.platform = parse_simulated_platform(platform, file);
  simulation.placement = placement;
  simulation.call.nodes =
      nodes_of(*simulation.spec.algorithm, procs, simulation.platform.machine.text(), placement);
  require_met(simulation.spec, simulation.call);
  return simulation;
}

NoiseKind parse_noise(const std::string& name) {
  if (name == "exponential") return NoiseKind::exponential;
  if (name == "pareto") return NoiseKind::pareto;
  if (name == "bernoulli") return NoiseKind::bernoulli;
  if (name == "none") return NoiseKind::none;
  throw Error("noise '" + name + "' is none of none, exponential, pareto, bernoulli");
}

/// What tells all simulations of this process to stop, those that run and those to come.
class Interruption {
 public:
  static std::stop_token token() {
    const std::scoped_lock lock(mutex);
    return source.get_token();
  }
  static void set(bool stop) {
    const std::scoped_lock lock(mutex);
    if (stop)
      source.request_stop();
    else if (source.stop_requested())
      source = std::stop_source();
  }

 private:
  static inline std::mutex mutex;
  static inline std::stop_source source;
};

void require_root(Rank root, Rank procs) {
  if (root >= procs)
    throw Error("the root must be below the number of processes, " + std::to_string(procs) + ", not " +
                std::to_string(root));
}

nb::list simulate(const std::string& collective, const std::string& spec, Rank procs,
                  const std::vector<double>& sizes, const std::string& platform, const std::string& file,
                  const std::string& placement, const Rows& arrivals, bool exact, bool critical_path,
                  Rank root, const std::string& noise, double mean, double shape, std::uint64_t seed,
                  std::uint64_t stream, const Forecasts& forecasts, const Rows& begins, const Rows& blocks,
                  bool exits, bool ordered, const nb::object& on_play) {
  Simulation simulation = make_simulation(collective, spec, procs, platform, file, placement);
  require_root(root, procs);
  simulation.call.root = root;
  simulation.options = {.contention = exact ? Contention::max_min_fair : Contention::equal_share,
                        .critical_path = critical_path,
                        .noise = {parse_noise(noise), mean, shape, seed, stream},
                        .stop = Interruption::token()};
  simulation.options.noise.validate();
  simulation.arrivals = arrivals;
  simulation.forecasts = forecasts;
  simulation.begins = begins;
  simulation.blocks = blocks;
  simulation.exits = exits;
  simulation.ordered = ordered;
  if (!on_play.is_none())
    simulation.on_play = [&] {
      const nb::gil_scoped_acquire our_turn;
      on_play();
    };
  simulation.require_fitting(sizes.size());
  std::vector<Summary> summaries;
  {
    const nb::gil_scoped_release others_may_run;
    summaries = simulation.run(sizes);
  }
  nb::list list;
  for (const Summary& summary : summaries) list.append(describe(summary));
  return list;
}

/// Why an algorithm cannot be simulated on so many processes; empty where it can, and where only a play would
/// tell. `apart`: with blocks of sizes of their own.
std::string refusal(const std::string& collective, const std::string& spec, Rank procs,
                    const std::string& platform, const std::string& file, const std::string& placement,
                    Rank root, bool apart) {
  Simulation simulation = make_simulation(collective, spec, procs, platform, file, placement);
  require_root(root, procs);
  const Algorithm& algorithm = *simulation.spec.algorithm;
  if (algorithm.is_online()) return "";
  SharedWork work;
  simulation.call.root = root;
  const bool is_one_for_all = !apart && is_alike(algorithm, simulation.call, work);
  return refusal_of(simulation.spec, simulation.call, is_one_for_all, Asks::for_time_too, work, {});
}

/// A platform's name and machine; throws where the file is wrong.
nb::dict platform(const std::string& text, const std::string& file) {
  const SimulatedPlatform parsed = parse_simulated_platform(text, file);
  nb::dict dict;
  dict["name"] = parsed.name;
  dict["machine"] = parsed.machine.text();
  dict["nodes"] = parsed.machine.nodes();
  dict["cores"] = parsed.machine.seats();
  dict["send"] = parsed.cpu.send;
  dict["recv"] = parsed.cpu.recv;
  dict["copy"] = parsed.cpu.copy;
  dict["eager"] = parsed.eager;
  return dict;
}

/// The node of each rank.
std::vector<Rank> simulated_nodes(const std::string& text, const std::string& file,
                                  const std::string& placement, Rank procs) {
  return seat(parse_simulated_platform(text, file), placement, procs).mapping.node_of_rank();
}

std::string simgrid(const std::string& text, const std::string& file, const std::string& placement,
                    Rank procs) {
  const SimulatedPlatform parsed = parse_simulated_platform(text, file);
  return simgrid_platform(parsed, seat(parsed, placement, procs));
}

}  // namespace

void add_simulation(nb::module_& module) {
  module.def("simulated_machine", &platform, nb::arg("text"), nb::arg("file"),
             "Reads a platform: its name, machine, nodes and cores.");
  module.def("simulated_nodes", &simulated_nodes, nb::arg("text"), nb::arg("file"), nb::arg("placement"),
             nb::arg("procs"), "The node of each rank on a platform.");
  module.def("simgrid_platform", &simgrid, nb::arg("text"), nb::arg("file"), nb::arg("placement"),
             nb::arg("procs"), "A platform with so many ranks, as XML for SimGrid.");
  module.def("simulation_refusal", &refusal, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("platform"), nb::arg("file"), nb::arg("placement"), nb::arg("root") = 0,
             nb::arg("apart") = false, nb::call_guard<nb::gil_scoped_release>(),
             "Why an algorithm cannot be simulated on so many processes; empty where it can.");
  module.def("simulate", &simulate, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("sizes"), nb::arg("platform"), nb::arg("file"), nb::arg("placement"),
             nb::arg("arrivals"), nb::arg("exact") = false, nb::arg("critical_path") = false,
             nb::arg("root") = 0, nb::arg("noise") = "none", nb::arg("noise_mean") = 0.0,
             nb::arg("noise_shape") = 0.0, nb::arg("seed") = 1, nb::arg("stream") = 0,
             nb::arg("forecasts") = Forecasts{}, nb::arg("begins") = Rows{}, nb::arg("blocks") = Rows{},
             nb::arg("exits") = false, nb::arg("ordered") = false, nb::arg("on_play") = nb::none(),
             "Plays an algorithm: one dictionary for each pattern of arrivals, for each size. By pattern: a "
             "forecast "
             "(rounds), and when ranks begin (seconds; in the background, or late). By size: each rank's "
             "block in bytes. Ordered: steps in the executor's compiled order. on_play is called after each "
             "play.");
  module.def("stop_simulations", &Interruption::set, nb::arg("stop"),
             "Whether simulations stop, those that run in other threads and those to come; they raise "
             "RuntimeError then.");
}

}  // namespace convene::binding
