// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/simulation_request.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "experiment/demand.hpp"
#include "experiment/schedule_request.hpp"
#include "experiment/spec_requirements.hpp"
#include "schedule/core/schedule_statistics.hpp"
#include "simulate/engine/simulator.hpp"
#include "simulate/platform/lower_bound.hpp"
#include "simulate/platform/network.hpp"

namespace convene::experiment {

namespace {

NoiseKind parse_noise_kind(const std::string& name) {
  if (name == "exponential") return NoiseKind::exponential;
  if (name == "pareto") return NoiseKind::pareto;
  if (name == "bernoulli") return NoiseKind::bernoulli;
  if (name == "none") return NoiseKind::none;
  throw Error("unknown noise '" + name + "'; choose none, exponential, pareto or bernoulli");
}

SimulationSummary summarize(const SimulationResult& result, const std::vector<double>& arrivals,
                            const SimulatedNetwork& network, bool exits) {
  SimulationSummary summary;
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

void add_bound(SimulationSummary& summary, const LowerBound& bound, const std::vector<double>& arrivals) {
  summary.slowest_bound = bound.end - *std::min_element(arrivals.begin(), arrivals.end());
  for (std::size_t rank = 0; rank < arrivals.size(); ++rank)
    summary.mean_bound += (bound.exits[rank] - arrivals[rank]) / static_cast<double>(arrivals.size());
}

/// The arrivals in rounds after the first; a round lasts `round` seconds.
std::vector<std::int32_t> in_rounds(const std::vector<double>& arrivals, double round) {
  const double first = *std::min_element(arrivals.begin(), arrivals.end());
  std::vector<std::int32_t> rounds;
  for (const double arrival : arrivals)
    rounds.push_back(static_cast<std::int32_t>(std::min(std::round((arrival - first) / round), 1e6)));
  return rounds;
}

/// The spec and the call of a request that its algorithm can run. A plan from a file has no algorithm.
struct RequestedCall {
  Spec spec;
  Call call;
  std::shared_ptr<const GivenPlan> given;

  RequestedCall(const SimulationRequest& request, const SimulatedPlatform& platform) : given(request.given) {
    if (given) {
      require_same_call(*given, request.collective, request.procs, request.root);
      call = given->call();
      return;
    }
    call.collective = parse_collective(request.collective);
    spec = parse_spec(call.collective, request.spec);
    require_schedules(spec, request.procs, " to simulate");
    call.procs = request.procs;
    call.parameters = spec.parameters;
    call.parts = spec.parts;
    call.nodes = nodes_of(*spec.algorithm, call.procs, platform.machine.text(), request.placement);
    call.domains = domains_of(spec, call.procs, platform.machine.text(), request.placement);
    require_met(spec, call);
    require_root(request.root, request.procs);
    call.root = request.root;
  }

  bool is_online() const { return !given && spec.algorithm->is_online(); }
  bool shares_memory() const {
    return given ? given->plan().front().places(Buffer::shared) > 0 : collective::shares_memory(spec);
  }
  std::uint32_t segments() const {
    return given ? given->segments() : collective::segments(*spec.algorithm, call);
  }
};

/// Throws Error if the lists of a request do not fit its patterns, sizes and ranks.
void require_fitting(const SimulationRequest& request, const RequestedCall& requested) {
  const auto& [spec, call, given] = requested;
  const std::size_t patterns = request.arrivals.size();
  if (given && !(request.forecasts.empty() && request.blocks.empty()))
    throw Error(given->file() + " has a forecast and equal blocks; leave out forecasts and sizes by rank");
  if (!request.forecasts.empty() && arrival_source(spec) != ArrivalSource::forecast)
    throw Error(std::string(spec.algorithm->name) + " uses no forecast of arrivals");
  if ((!request.forecasts.empty() && request.forecasts.size() != patterns) ||
      (!request.begins.empty() && request.begins.size() != patterns))
    throw Error("forecasts and start times need one row for each arrival pattern");
  for (const auto& forecast : request.forecasts)
    if (forecast.size() != call.procs || std::ranges::any_of(forecast, [](auto at) { return at < 0; }))
      throw Error("a forecast needs a number of rounds, 0 or more, for each process");
  if (request.ordered && !request.begins.empty())
    throw Error("ranks that start before they arrive have no fixed order of steps");
  if (request.blocks.empty()) return;
  if (request.blocks.size() != request.sizes.size()) throw Error("blocks need one row for each size");
  constexpr Collective with_blocks[] = {Collective::allgather, Collective::allgatherv, Collective::gather,
                                        Collective::gatherv,   Collective::scatter,    Collective::scatterv};
  if (std::ranges::find(with_blocks, call.collective) == std::end(with_blocks))
    throw Error(std::string(name(call.collective)) + " cannot be simulated with unequal blocks");
  for (const auto& row : request.blocks)
    if (row.size() != call.procs) throw Error("blocks need one size for each process");
}

/// The runs of a request. The plan is prepared again only if the forecast changes.
class Runs {
 public:
  Runs(const SimulationRequest& request, const SimulatedPlatform& platform, const std::stop_token& stop)
      : request_(request),
        platform_(platform),
        requested_(request, platform),
        seating_(seat(platform, request.placement, request.procs)),
        network_(platform, seating_),
        bounds_(platform, seating_),
        segments_(requested_.segments()) {
    options_ = {.contention = request.exact ? Contention::max_min_fair : Contention::equal_share,
                .critical_path = request.critical_path,
                .noise = {parse_noise_kind(request.noise), request.noise_mean, request.noise_shape,
                          request.seed, request.stream},
                .stop = stop};
    options_.noise.validate();
    require_fitting(request, requested_);
  }

  std::vector<SimulationSummary> run(const std::function<void()>& on_run) {
    std::vector<SimulationSummary> result;
    for (std::size_t size = 0; size < request_.sizes.size(); ++size) {
      is_sized_ = false;
      round_ = 0;
      set_demand(size);
      for (std::size_t pattern = 0; pattern < request_.arrivals.size(); ++pattern) {
        prepare(size, pattern);
        result.push_back(run_one(pattern));
        on_run();
      }
    }
    return result;
  }

 private:
  bool is_online() const { return requested_.is_online(); }

  /// The forecast of a pattern. An online algorithm decides for rounds as long as those of a balanced call.
  std::vector<std::int32_t> expected(std::size_t size, std::size_t pattern) {
    if (!is_online()) return request_.forecasts.empty() ? current_arrivals() : request_.forecasts[pattern];
    if (round_ == 0) round_ = balanced_round(request_.sizes[size]);
    return in_rounds(request_.arrivals[pattern], round_);
  }
  const std::vector<std::int32_t>& current_arrivals() const { return requested_.call.arrivals; }

  /// Seconds of a round of a balanced call.
  double balanced_round(double bytes) const {
    Call call = requested_.call;
    call.arrivals.clear();
    PreparedPlan balanced(requested_.spec, call, false, options_.stop);
    balanced.set_bytes(bytes, segments_);
    const std::vector<double> together(call.procs, 0.0);
    const double end = run_simulation(balanced.workload(), platform_, seating_, together, options_).end;
    return std::max(end / balanced.rounds(), 1e-12);  // a single rank needs no time
  }

  void prepare(std::size_t size, std::size_t pattern) {
    std::vector<std::int32_t> forecast = expected(size, pattern);
    const bool unequal = !request_.blocks.empty();
    if (!prepared_ || forecast != current_arrivals()) {
      requested_.call.arrivals = std::move(forecast);
      prepared_.reset();  // frees its memory before the next one is allocated
      prepared_ = requested_.given ? std::make_unique<PreparedPlan>(*requested_.given)
                                   : std::make_unique<PreparedPlan>(requested_.spec, requested_.call, unequal,
                                                                    options_.stop);
      if (request_.ordered && !is_online()) prepared_->compile_orders();
      is_sized_ = false;
    }
    if (is_sized_) return;
    if (unequal)
      prepared_->set_blocks(request_.blocks[size], requested_.spec, segments_);
    else if (!requested_.given && requested_.spec.algorithm->cut == Cut::head_first)
      prepared_->set_blocks(std::vector<double>(request_.procs, request_.sizes[size]), requested_.spec,
                            segments_);
    else
      prepared_->set_bytes(request_.sizes[size], segments_);
    is_sized_ = true;
  }

  void set_demand(std::size_t size) {
    demand_ = demand_of(requested_.call.collective, request_.root,
                        request_.blocks.empty() ? std::vector<double>(request_.procs, request_.sizes[size])
                                                : request_.blocks[size]);
  }

  SimulationSummary run_one(std::size_t pattern) const {
    SimulationOptions options = options_;
    options.noise.stream += pattern;
    if (!request_.begins.empty()) options.begins = request_.begins[pattern];
    if (options.stop.stop_requested()) throw Interrupted();
    options.orders = prepared_->orders();
    const std::vector<double>& arrivals = request_.arrivals[pattern];
    SimulationSummary summary =
        summarize(run_simulation(prepared_->workload(), platform_, seating_, arrivals, options), arrivals,
                  network_, request_.exits);
    add_bound(summary, bounds_.of(demand_, arrivals, !request_.begins.empty(), requested_.shares_memory()),
              arrivals);
    return summary;
  }

  const SimulationRequest& request_;
  const SimulatedPlatform& platform_;
  RequestedCall requested_;
  const Seating seating_;
  const SimulatedNetwork network_;
  const LowerBounds bounds_;
  Demand demand_;  // at the current size
  const std::uint32_t segments_;
  SimulationOptions options_;
  std::unique_ptr<PreparedPlan> prepared_;
  bool is_sized_ = false;  // the prepared plan has the bytes of the current size
  double round_ = 0;       // seconds, of an online algorithm at the current size; 0: not known yet
};

}  // namespace

std::vector<SimulationSummary> simulate_requested(const SimulationRequest& request,
                                                  const SimulatedPlatform& platform,
                                                  const std::stop_token& stop,
                                                  const std::function<void()>& on_run) {
  return Runs(request, platform, stop).run(on_run);
}

SimulationExtent simulation_extent(const SimulationRequest& request, const SimulatedPlatform& platform) {
  const RequestedCall requested(request, platform);
  if (requested.given) return {"", statistics(requested.given->plan()).steps};
  const Algorithm& algorithm = *requested.spec.algorithm;
  if (algorithm.is_online()) return {};
  SharedWork work;
  const bool represented = request.blocks.empty() && has_representative(algorithm, requested.call, work);
  return extent_of_simulation(requested.spec, requested.call, represented, Limit::steps_and_time, work, {});
}

}  // namespace convene::experiment
