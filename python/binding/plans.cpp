// SPDX-License-Identifier: BSD-3-Clause
// Plans: built, checked, printed.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "binding.hpp"
#include "schedule/check/checker.hpp"
#include "schedule/print/print.hpp"
#include "schedule/print/svg/print_svg.hpp"
#include "topology/mapping.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

constexpr Rank most_procs = 1u << 20;
constexpr Rank most_deciding = 1u << 14;        // played in seconds
constexpr std::uint64_t most_steps = 1u << 24;  // of all ranks together: about half a gigabyte
constexpr std::uint64_t most_places = 1u << 26;

Naming naming(Collective collective) {
  if (collective == Collective::barrier) return Naming::token;
  switch (traits(collective).postcondition) {
    case Postcondition::scatter:
      return Naming::target;
    case Postcondition::bcast:
      return Naming::segment;
    case Postcondition::alltoall:
    case Postcondition::neighbor_alltoall:
      return Naming::pair;
    case Postcondition::neighbor_allgather:
      return Naming::neighbor;
    default:
      return Naming::source;
  }
}

using Arrivals = std::vector<std::int32_t>;

/// The arrivals that a call is to carry: one for each rank, and an algorithm that minds them.
void check_arrivals(const Arrivals& arrivals, Collective collective, const Spec& spec, Rank procs) {
  if (arrivals.empty()) return;
  const Algorithm& algorithm = *spec.algorithm;
  if (arrival_source(spec) == ArrivalSource::none) {
    std::vector<std::string_view> users;
    for (const Algorithm* each : catalogue(collective))
      if (each->arrival_source != ArrivalSource::none) users.push_back(each->name);
    throw Error(std::string(algorithm.name) + " does not mind arrivals; of " + std::string(name(collective)) +
                " these do: " + (users.empty() ? "none" : joined(users)));
  }
  if (arrivals.size() != procs)
    throw Error("a forecast needs one arrival for each process: there are " +
                std::to_string(arrivals.size()) + " for " + std::to_string(procs));
  for (const std::int32_t arrival : arrivals)
    if (arrival < 0) throw Error("an arrival is from 0 on, not " + std::to_string(arrival));
}

/// The call that a request describes; its spec must be of an algorithm that can run it.
struct Request {
  Spec spec;
  Call call;

  Request(const std::string& collective, const std::string& text, Rank procs, Rank root, bool in_place,
          const std::string& machine, const std::string& placement, const Arrivals& arrivals = {},
          const std::string& graph = "", bool commutative = true) {
    call.collective = parse_collective(collective);
    call.commutative = commutative;
    spec = parse_spec(call.collective, text);
    if (spec.algorithm->is_native())
      throw Error(
          "native is the MPI library's own algorithm: Convene has no schedule of it; convene list names "
          "others");
    if (procs < 1 || procs > most_procs)
      throw Error("the number of processes must be from 1 to " + std::to_string(most_procs) + ", not " +
                  std::to_string(procs));
    if (root >= procs)
      throw Error("the root must be below the number of processes, " + std::to_string(procs) + ", not " +
                  std::to_string(root));
    call.procs = procs;
    call.root = root;
    call.in_place = in_place;
    call.parameters = spec.parameters;
    call.parts = spec.parts;
    call.nodes = nodes_of(*spec.algorithm, procs, machine, placement);
    require_met(spec, call);
    check_arrivals(arrivals, call.collective, spec, procs);
    call.arrivals = arrivals;
    if (is_neighborhood(call.collective) && !graph.empty())
      call.graph = std::make_shared<const Graph>(Graph::parse(graph, procs));
    else if (!graph.empty())
      throw Error(collective + " is between all ranks; leave out the graph '" + graph + "'");
  }

  Plan plan() const {
    require_few_steps();
    return build_plan(*spec.algorithm, call);
  }
  /// One with whose contents something is to be done. Refused before it is built where that would take too
  /// much.
  Plan plan_to_play() const {
    require_few_steps();
    require_few_places();
    return build_plan(*spec.algorithm, call);
  }
  std::uint32_t segments() const { return collective::segments(*spec.algorithm, call); }
  Contract contract() const { return collective::contract(call, segments()); }

  void require_few_steps() const {
    const Extent extent = expected_extent(*spec.algorithm, call, most_steps);
    if (const std::string refusal = extent.refusal("this plan", most_steps); !refusal.empty())
      throw Error(refusal);
  }
  void require_few_places() const {
    const std::uint64_t places = std::uint64_t{call.procs} * call.procs * segments();
    if (places > most_places)
      throw Error("playing this plan needs " + std::to_string(places) + " places, more than " +
                  std::to_string(most_places) + "; take fewer processes, or --format json");
  }

  PlanInfo info() const {
    PlanInfo result{std::string(name(call.collective)), std::string(spec.algorithm->name), call.procs,
                    call.root};
    for (std::size_t i = 0; i < spec.algorithm->parameters.size(); ++i) {
      const Parameter& parameter = spec.algorithm->parameters[i];
      result.parameters.emplace_back(parameter.name, parameter_text(parameter, spec.parameters[i]));
    }
    for (const auto& [name, text] : part_texts(spec)) result.parameters.emplace_back(name, text);
    result.segments = segments();
    result.naming = naming(call.collective);
    if (is_neighborhood(call.collective)) result.peers = with_graph(call).graph->most_targets();
    result.arrivals = call.arrivals;
    return result;
  }
};

nb::dict describe(const Statistics& counts) {
  nb::dict dict;
  dict["rounds"] = counts.rounds;
  dict["messages"] = counts.messages;
  dict["blocks"] = counts.blocks;
  dict["most_messages_sent"] = counts.most_messages_sent;
  dict["most_blocks_sent"] = counts.most_blocks_sent;
  dict["most_messages_received"] = counts.most_messages_received;
  dict["most_blocks_received"] = counts.most_blocks_received;
  dict["most_blocks_combined"] = counts.most_blocks_combined;
  dict["scratch"] = counts.scratch;
  dict["steps"] = counts.steps;
  dict["edges"] = counts.edges;
  dict["memory"] = counts.memory;
  return dict;
}

Verdict play(const Request& request) {
  const nb::gil_scoped_release others_may_run;
  return schedule::check(request.plan_to_play(), request.contract());
}

nb::dict check(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
               const Arrivals& arrivals, const std::string& machine, const std::string& placement,
               const std::string& graph, bool commutative) {
  const Verdict verdict = play(
      Request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph, commutative));
  nb::dict dict = describe(verdict.statistics);
  dict["ok"] = verdict.ok();
  dict["why"] = verdict.why;
  return dict;
}

nb::dict count(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
               const Arrivals& arrivals, const std::string& machine, const std::string& placement,
               const std::string& graph) {
  return describe(statistics(
      Request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph).plan()));
}

std::string text(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
                 bool steps, std::optional<Rank> rank, const Arrivals& arrivals, const std::string& machine,
                 const std::string& placement, const std::string& graph) {
  const Request request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph);
  if (rank && *rank >= procs)
    throw Error("the rank must be below the number of processes, " + std::to_string(procs) + ", not " +
                std::to_string(*rank));
  const Plan plan = request.plan_to_play();
  return to_text(plan, request.info(), request.contract(), {.steps = steps, .rank = rank});
}

std::string json(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
                 const Arrivals& arrivals, const std::string& machine, const std::string& placement,
                 const std::string& graph) {
  const Request request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph);
  return to_json(request.plan(), request.info());
}

std::string goal(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
                 std::uint64_t bytes, const Arrivals& arrivals, const std::string& machine,
                 const std::string& placement, const std::string& graph) {
  const Request request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph);
  return to_goal(request.plan(), request.info(), {.bytes_per_block = bytes});
}

/// `machine` and `placement` are empty where no mapping is asked for.
std::string svg(const std::string& collective, const std::string& spec, Rank procs, Rank root, bool in_place,
                bool rings, const std::string& machine, const std::string& placement,
                const std::vector<std::uint32_t>& rounds, const Arrivals& arrivals,
                const std::string& graph) {
  const Request request(collective, spec, procs, root, in_place, machine, placement, arrivals, graph);
  SvgOptions options{.rings = rings, .node_of_rank = {}, .rounds = rounds};
  if (!machine.empty() || !placement.empty())
    options.node_of_rank = Mapping::parse(machine, placement, procs).node_of_rank();
  const Plan plan = request.plan_to_play();
  return to_svg(plan, request.info(), request.contract(), options);
}

}  // namespace

Extent extent_of(const Algorithm& algorithm, Call call, Rank rank, Builder& builder, SharedWork* work) {
  SharedWork own;
  call.rank = rank;
  const std::uint64_t begun = monotonic_ns();
  const std::uint64_t steps = build_schedule(algorithm, call, work ? *work : own, builder).size();
  return {steps, static_cast<double>(monotonic_ns() - begun) * 1e-9};
}

namespace {

/// All steps, as they grow from 128 ranks to 256. An algorithm may plan for all ranks at once, so that one
/// schedule for many of them takes too long itself. 0: not known.
std::uint64_t extrapolated_steps(const Algorithm& algorithm, const Call& call) {
  constexpr Rank few = 256;
  if (call.procs <= 8 * few || call.graph) return 0;
  const auto count = [&](Rank procs) -> std::uint64_t {
    Call small = call;
    small.procs = procs;
    small.root %= procs;
    if (!small.nodes.empty()) small.nodes.resize(procs);
    if (!small.arrivals.empty()) small.arrivals.resize(procs);
    if (!unmet_requirement(algorithm, small).empty()) return 0;
    std::uint64_t steps = 0;
    for (const Schedule& schedule : build_plan(algorithm, small)) steps += schedule.size();
    return steps;
  };
  const auto half = static_cast<double>(count(few / 2)), whole = static_cast<double>(count(few));
  if (half == 0 || whole == 0) return 0;
  const double steps = whole * std::pow(whole / half, std::log2(static_cast<double>(call.procs) / few));
  return static_cast<std::uint64_t>(std::min(steps, 1e18));
}

/// What several schedules take.
struct Asked {
  Rank schedules = 0;
  std::uint64_t steps = 0;
  double seconds = 0, slowest = 0;

  void add(const Extent& one) {
    ++schedules;
    steps += one.steps;
    seconds += one.seconds;
    slowest = std::max(slowest, one.seconds);
  }
  /// Of one in the mean; without the slowest, which the machine may have interrupted.
  double seconds_of_one() const { return schedules > 1 ? (seconds - slowest) / (schedules - 1) : seconds; }
};

}  // namespace

/// Rank 0 and the root may have more to do than all others; these differ as well (in a tree), so some of them
/// are asked, at distances of the golden section, which fall together with no power.
Extent expected_extent(const Algorithm& algorithm, const Call& call, std::uint64_t most_steps,
                       const std::stop_token& stop, SharedWork* work) {
  constexpr Rank most_asked = 16;
  constexpr std::uint64_t enough_steps = 1'000'000;  // to know that there are too many
  constexpr double enough_seconds = 2;
  constexpr double golden = 0.6180339887498949;
  constexpr std::uint64_t doubt = 8;  // what is extrapolated may be so many times too much
  if (algorithm.symmetry == Symmetry::none)
    if (const std::uint64_t steps = extrapolated_steps(algorithm, call); steps / doubt > most_steps)
      return {.steps = steps};
  const Rank root = is_rooted(call.collective) ? call.root : 0, special = root == 0 ? 1 : 2;
  Builder builder;
  Extent extent = extent_of(algorithm, call, root, builder, work);
  if (root != 0 && !stop.stop_requested()) {
    const Extent first = extent_of(algorithm, call, 0, builder, work);
    extent = {extent.steps + first.steps, extent.seconds + first.seconds};
  }
  if (call.procs <= special) return extent;
  const Rank others = call.procs - special;
  const Rank most = std::min(others, algorithm.symmetry == Symmetry::none ? most_asked : 1);
  Asked asked;
  while (asked.schedules < most && asked.steps < enough_steps && !stop.stop_requested()) {
    if (asked.schedules > 1 && asked.seconds > enough_seconds) break;
    const double at = std::fmod((asked.schedules + 1) * golden, 1);
    Rank rank = 1 + (most == others ? asked.schedules : static_cast<Rank>(at * others));
    if (root != 0 && rank >= root) ++rank;
    asked.add(extent_of(algorithm, call, rank, builder, work));
  }
  if (asked.schedules == 0) return extent;
  return {extent.steps + asked.steps * others / asked.schedules,
          extent.seconds + asked.seconds_of_one() * others};
}

std::string Extent::refusal(const std::string& doing, std::uint64_t most_steps) const {
  constexpr double most_minutes = 30;
  if (steps > most_steps)
    return doing + " means about " + std::to_string(steps) + " steps, more than " +
           std::to_string(most_steps) + "; take fewer processes";
  if (const double minutes = seconds / 60; minutes > most_minutes)
    return doing + " means building schedules for about " + std::to_string(std::llround(minutes)) +
           " minutes; take fewer processes";
  return "";
}

BuiltPlan build(const std::string& collective, const std::string& spec, Rank procs, Rank root,
                const std::string& machine, const std::string& placement) {
  const Request request(collective, spec, procs, root, false, machine, placement);
  return {request.plan(), request.segments()};
}

std::vector<Rank> nodes_of(const Algorithm& algorithm, Rank procs, const std::string& machine,
                           const std::string& placement) {
  if (!depends_on_nodes(algorithm)) return {};
  if (machine.empty() && placement.empty())
    return algorithm.shared_places ? std::vector<Rank>(procs, 0) : std::vector<Rank>{};  // on one node, then
  return Mapping::parse(machine, placement.empty() ? "sequential" : placement, procs).node_of_rank();
}

void require_met(const Spec& spec, const Call& call) {
  const std::string who = std::string(name(call.collective)) + "=" + spec_text(spec);
  if (uses_nodes(*spec.algorithm) && call.nodes.empty())
    throw Error(who + " needs to know which ranks share a node: say it with --mapping \"node:4 core:8\"");
  if (const std::string unmet = unmet_requirement(*spec.algorithm, call); !unmet.empty())
    throw Error(who + " " + unmet +
                (uses_nodes(*spec.algorithm) ? "" : ", not " + std::to_string(call.procs)));
  if (spec.algorithm->is_online() && call.procs > most_deciding)
    throw Error(who + " decides as it runs, so that all processes have to be played together: take at most " +
                std::to_string(most_deciding) + ", not " + std::to_string(call.procs));
}

void add_plans(nb::module_& module) {
  module.def("text", &text, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root") = 0,
             nb::arg("in_place") = false, nb::arg("steps") = false, nb::arg("rank") = nb::none(),
             nb::arg("arrivals") = Arrivals{}, nb::arg("machine") = "", nb::arg("placement") = "",
             nb::arg("graph") = "", "A plan for people.");
  module.def("json", &json, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root") = 0,
             nb::arg("in_place") = false, nb::arg("arrivals") = Arrivals{}, nb::arg("machine") = "",
             nb::arg("placement") = "", nb::arg("graph") = "", "A plan for programs.");
  module.def("goal", &goal, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root") = 0,
             nb::arg("in_place") = false, nb::arg("bytes") = 1, nb::arg("arrivals") = Arrivals{},
             nb::arg("machine") = "", nb::arg("placement") = "", nb::arg("graph") = "",
             "A plan for LogGOPSim.");
  module.def("svg", &svg, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root") = 0,
             nb::arg("in_place") = false, nb::arg("rings") = false, nb::arg("machine") = "",
             nb::arg("placement") = "", nb::arg("rounds") = std::vector<std::uint32_t>{},
             nb::arg("arrivals") = Arrivals{}, nb::arg("graph") = "", "A plan as a picture.");
  module.def("check", &check, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"), nb::arg("root") = 0,
             nb::arg("in_place") = false, nb::arg("arrivals") = Arrivals{}, nb::arg("machine") = "",
             nb::arg("placement") = "", nb::arg("graph") = "", nb::arg("commutative") = true,
             "Plays all ranks' schedules: ok, why not, and the counts.");
  module.def("statistics", &count, nb::arg("collective"), nb::arg("spec"), nb::arg("procs"),
             nb::arg("root") = 0, nb::arg("in_place") = false, nb::arg("arrivals") = Arrivals{},
             nb::arg("machine") = "", nb::arg("placement") = "", nb::arg("graph") = "",
             "Rounds, messages, blocks, steps and memory of a plan.");
}

}  // namespace convene::binding
