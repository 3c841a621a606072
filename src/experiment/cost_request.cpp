// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/cost_request.hpp"

#include "base/error.hpp"
#include "model/prediction/model_catalogue.hpp"
#include "model/prediction/prediction.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/taulop_derivation.hpp"
#include "model/taulop/taulop_parameters.hpp"
#include "topology/mapping.hpp"

namespace convene::experiment {

namespace {

/// A plan and the mapping of its ranks.
struct PlacedPlan {
  RequestedPlan requested;
  Plan plan;
  Mapping mapping;

  explicit PlacedPlan(const ScheduleRequest& request)
      : requested(request),
        plan(requested.plan()),
        mapping(Mapping::parse(request.machine, request.placement, request.procs)) {
    if (!requested.has_shares())
      throw Error(request.spec + " has no model: it cuts blocks after a number of bytes; convene simulate " +
                  "sweep computes its times");
  }

  /// The part of m that a place holds. The messages of a barrier are empty.
  Rational place() const {
    return requested.call().collective == Collective::barrier ? Rational(0)
                                                              : Rational(1, requested.segments());
  }
};

/// τ-Lop's cost. Without kinds of transfers, L_sr and L_c are not used.
Expression cost(const PlacedPlan& placed, const ModelPlatform* platform, const TransportModel& transport,
                bool packed = false, bool has_kinds = true) {
  ModelPlatform found = platform ? *platform : ModelPlatform::two_channels();
  for (ModelChannel& channel : found.channels)
    if (TauLop* const taulop = channel.find<TauLop>(); taulop && !has_kinds)
      taulop->exchange = taulop->shared = {};
  const Derivation how{.transport = transport, .place = placed.place(), .packed = packed};
  return derive(placed.plan, placed.mapping, found.channels, how);
}

TransportModel transport_of_names(const TransportNames& names, const ModelPlatform* platform) {
  TransportModel result;
  if (platform) result.network_channel = network_channel(platform->channels);
  result.memory = parse_memory_transport(names.memory);
  result.network = parse_network_transport(names.network);
  return result;
}

CostTerm term_of_atom(const Atom& atom, double factor) {
  static constexpr const char* names[] = {"o", "L", "c", "gamma", "p", "T", "T_sr"};
  return {names[static_cast<std::size_t>(atom.kind)], atom.channel, atom.tau,
          factor * atom.size.count.value()};
}

}  // namespace

std::vector<double> predict_seconds(const ScheduleRequest& request, const ModelPlatform& platform,
                                    const std::string& model, const std::vector<std::uint64_t>& sizes,
                                    bool packed) {
  const PlacedPlan placed(request);
  const auto prepared = prepare_prediction(find_model(model), {.plan = placed.plan,
                                                               .mapping = placed.mapping,
                                                               .platform = platform,
                                                               .place = placed.place(),
                                                               .packed = packed});
  std::vector<double> seconds;
  for (const std::uint64_t bytes : sizes) seconds.push_back(prepared->seconds(static_cast<double>(bytes)));
  return seconds;
}

std::vector<double> count_hop_bytes(const ScheduleRequest& request, const std::vector<std::uint64_t>& sizes) {
  const PlacedPlan placed(request);
  std::vector<double> costs;
  for (const std::uint64_t bytes : sizes)
    costs.push_back(hop_bytes(placed.plan, placed.mapping, static_cast<double>(bytes), placed.place()));
  return costs;
}

CostTexts cost_texts(const ScheduleRequest& request, const ModelPlatform* platform,
                     const TransportNames& names, bool latex, bool packed) {
  const PlacedPlan placed(request);
  const TransportModel transport = transport_of_names(names, platform);
  const Expression stages = cost(placed, platform, transport, packed);
  const Expression sum = simplify(expand(stages, transport), {.merge_overheads = true});
  return {model::to_text(stages, {.latex = latex}), model::to_text(sum, {.latex = latex})};
}

std::vector<CostTerm> cost_terms(const ScheduleRequest& request, const ModelPlatform* platform) {
  const PlacedPlan placed(request);
  const TransportModel transport = transport_of_names({"copy_in_copy_out", "copies"}, platform);
  const Expression sum =
      simplify(expand(cost(placed, platform, transport), transport), {.merge_overheads = true});
  std::vector<CostTerm> terms;
  const auto add = [&](const Expression& term, double factor) {
    if (term.form() != Expression::Form::atom)
      throw Error("the cost of " + request.collective + " " + request.spec +
                  " on this mapping is no sum of parameters, but has maxima");
    terms.push_back(term_of_atom(term.atom(), factor));
  };
  const auto add_term = [&](const Expression& term) {
    if (term.form() == Expression::Form::times)
      add(term.terms().front(), term.factor().fixed.value());
    else
      add(term, 1);
  };
  if (sum.form() == Expression::Form::sum)
    for (const Expression& term : sum.terms()) add_term(term);
  else
    add_term(sum);
  return terms;
}

std::string compare_costs(const ScheduleRequest& first, const ScheduleRequest& second,
                          const ModelPlatform* platform, const TransportNames& names,
                          bool farther_is_slower) {
  const TransportModel transport = transport_of_names(names, platform);
  const auto transfers = [&](const ScheduleRequest& request) {
    // L_sr and L_c bound nothing: one L, as in the source.
    const Expression whole = cost(PlacedPlan(request), platform, transport, false, false);
    return simplify(expand(whole, transport), {.drop_overheads = true, .drop_copies = true});
  };
  return std::string(
      symbol(model::compare(transfers(first), transfers(second), {.farther_is_slower = farther_is_slower})));
}

}  // namespace convene::experiment
