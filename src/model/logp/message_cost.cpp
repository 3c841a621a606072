// SPDX-License-Identifier: BSD-3-Clause
#include "model/logp/message_cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::model {

namespace {

MessageCost hockney(const Hockney& p, double bytes) {
  const double time = p.alpha + p.beta * bytes;
  return {.send_port = time, .send_done = time, .flight = time, .recv_port = time};
}

MessageCost loggp(const LogGP& p, double bytes, double G) {
  const double stream = std::max(0.0, bytes - 1) * G;
  return {.send_busy = p.send_overhead,
          .send_port = p.g + stream,
          .send_done = p.send_overhead + stream,
          .flight = p.send_overhead + stream + p.L,
          .recv_busy = p.recv_overhead,
          .recv_port = p.g + stream};
}

MessageCost logfp(const LogfP& p, Burst burst) {
  const double send = p.send_overhead(burst.sent);
  return {.send_busy = send,
          .send_done = send,
          .flight = send + p.L,
          .recv_busy = p.recv_overhead(burst.received),
          .burst_gap = p.g,
          .free = p.free};
}

MessageCost plogp(const PLogP& p, double bytes) {
  const double gap = p.gap(bytes), recv = p.recv_overhead(bytes);
  return {.send_busy = p.send_overhead(bytes),
          .send_port = gap,
          .send_done = p.send_overhead(bytes),
          .flight = std::max(0.0, p.L + gap - recv),
          .recv_busy = recv,
          .recv_port = std::max(0.0, gap - recv),
          .recv_port_behind = recv};
}

MessageCost lognp(const LogNP& p, double bytes) {
  double before_last = 0;
  for (std::size_t i = 0; i + 1 < p.transfers.size(); ++i) before_last += p.transfers[i](bytes);
  const double first = p.transfers.front()(bytes);
  return {.send_busy = first,
          .send_port = first,
          .send_done = first,
          .flight = before_last,
          .recv_busy = p.transfers.back()(bytes)};
}

bool has_parameters(Model model, const Channel& channel) {
  switch (model) {
    case Model::hockney:
      return channel.hockney.has_value();
    case Model::logp:
    case Model::loggp:
      return channel.loggp.has_value();
    case Model::loggps:
      return channel.loggp && channel.loggp->synchronous_from;
    case Model::logfp:
      return channel.logfp.has_value();
    case Model::plogp:
      return channel.plogp.has_value();
    case Model::lognp:
      return channel.lognp.has_value();
  }
  return false;
}

std::string_view parameters_of(Model model) {
  if (model == Model::logp) return "loggp";
  if (model == Model::loggps) return "loggp with S";
  return name(model);
}

}  // namespace

std::string_view name(Model model) {
  static constexpr std::string_view names[] = {"hockney", "logp",  "loggp", "loggps",
                                               "logfp",   "plogp", "lognp"};
  return names[static_cast<unsigned>(model)];
}

Model parse_model(std::string_view wanted) {
  std::vector<std::string_view> known;
  for (Model model : all_models) {
    if (name(model) == wanted) return model;
    known.push_back(name(model));
  }
  throw Error(no_such("model", wanted, known));
}

MessageCost cost(Model model, const Channel& channel, double bytes, Burst burst) {
  switch (model) {
    case Model::hockney:
      return hockney(*channel.hockney, bytes);
    case Model::logp:
      return loggp(*channel.loggp, bytes, 0);
    case Model::loggp:
    case Model::loggps:
      return loggp(*channel.loggp, bytes, channel.loggp->G);
    case Model::logfp:
      return logfp(*channel.logfp, burst);
    case Model::plogp:
      return plogp(*channel.plogp, bytes);
    case Model::lognp:
      return lognp(*channel.lognp, bytes);
  }
  return {};
}

bool is_synchronous(Model model, const Channel& channel, double bytes) {
  return model == Model::loggps && bytes >= *channel.loggp->synchronous_from;
}

double computation_cost(const Platform& platform, double bytes, std::uint32_t tau) {
  if (!platform.computation)
    throw Error(fmt::format("the platform {} has no parameter computation, which reductions need",
                            in_quotes(platform.name)));
  return at(*platform.computation, bytes, tau);
}

double local_cost(const Platform& platform, StepKind kind, double bytes) {
  return kind == StepKind::copy ? at(platform.copy, bytes, 1) : computation_cost(platform, bytes);
}

bool has_parameters(Model model, const Platform& platform) {
  return std::all_of(platform.channels.begin(), platform.channels.end(),
                     [&](const Channel& channel) { return has_parameters(model, channel); });
}

void require_parameters(Model model, const Platform& platform) {
  for (const Channel& channel : platform.channels)
    if (!has_parameters(model, channel))
      throw Error(fmt::format(
          "the platform {} has no parameters {} for the channel {}; take another model or platform",
          in_quotes(platform.name), parameters_of(model), in_quotes(channel.name)));
}

}  // namespace convene::model
