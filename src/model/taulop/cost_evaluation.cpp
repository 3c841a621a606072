// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/cost_evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {

namespace {

class Evaluation {
 public:
  Evaluation(const ModelPlatform& platform, double bytes, const TransportModel& transport, double segment)
      : platform_(platform),
        transport_(transport),
        bytes_(bytes),
        longest_piece_(segment > 0 ? segment : INFINITY),
        segment_(segment > 0 ? std::min(segment, bytes) : bytes) {}

  double of(const Expression& e, std::uint32_t concurrency = 1) const {
    double value = 0;
    switch (e.form()) {
      case Expression::Form::atom:
        return of(e.atom(), concurrency);
      case Expression::Form::sum:
        for (const Expression& term : e.terms()) value += of(term, concurrency);
        return value;
      case Expression::Form::times:
        return (e.factor().fixed.value() + e.factor().per_k.value() * segments()) *
               of(e.terms().front(), concurrency);
      case Expression::Form::concurrent:
        return of(e.terms().front(), concurrency * e.number());
      case Expression::Form::max:
        for (const Expression& term : e.terms()) value = std::max(value, of(term, concurrency));
        return value;
    }
    return value;
  }

 private:
  double segments() const { return segment_ > 0 ? bytes_ / segment_ : 1; }

  double size(const Size& size) const {
    const double unit = size.unit == "m" ? bytes_ : size.unit == "S" ? segment_ : 1;
    return size.count.value() * unit;
  }

  const TauLop& parameters(std::uint32_t channel) const {
    if (channel >= platform_.channels.size())
      throw Error(fmt::format("the expression has a channel {}, and the platform {} has {}", channel,
                              in_quotes(platform_.name), platform_.channels.size()));
    const ModelChannel& found = platform_.channels[channel];
    if (const TauLop* parameters = found.find<TauLop>()) return *parameters;
    throw Error(fmt::format(
        "the platform {} has no parameters taulop for the channel {}; use another model or platform",
        in_quotes(platform_.name), in_quotes(found.name)));
  }

  double of(const Atom& atom, std::uint32_t concurrency) const {
    const std::uint32_t tau = atom.tau * concurrency;
    switch (atom.kind) {
      case AtomKind::overhead:
        return parameters(atom.channel).overhead(size(atom.size));
      case AtomKind::transfer:
        return parameters(atom.channel).L(size(atom.size), tau, atom.transfer);
      case AtomKind::copy:
        return at(platform_.copy, size(atom.size), tau);
      case AtomKind::computation:
        return computation_cost(platform_, size(atom.size), tau);
      case AtomKind::packing:
        return packing(size(atom.size));
      case AtomKind::transmission:
      case AtomKind::send_receive:
        return transmission(atom, tau);
    }
    return 0;
  }

  double packing(double bytes) const {
    if (!platform_.packing)
      throw Error(fmt::format(
          "the platform {} has no cost of packing (model.packing); measure it again, or omit --packed",
          in_quotes(platform_.name)));
    return (*platform_.packing)(bytes);
  }

  double transmission(const Atom& atom, std::uint32_t tau) const {
    const TauLop& way = parameters(atom.channel);
    const double bytes = size(atom.size);
    const double once = way.overhead(bytes) + way.L(bytes, tau, atom.transfer);
    if (atom.channel >= transport_.network_channel) {
      if (transport_.network == NetworkTransport::rdma) return once;
      return once + 2 * parameters(transport_.network_channel - 1).L(bytes, tau);
    }
    switch (transport_.memory) {
      case MemoryTransport::zero_copy:
        return once;
      case MemoryTransport::copy_in_copy_out:
        return once + way.L(bytes, tau);
      case MemoryTransport::buffered:
        return once + 2 * way.L(bytes, tau);
      case MemoryTransport::segments:
      case MemoryTransport::long_segments:
        break;
    }
    return segmented(way, atom.kind, bytes, tau);
  }

  /// (3.2) and (3.7); in both, a message of one segment is an ordinary one.
  double segmented(const TauLop& way, AtomKind kind, double bytes, std::uint32_t tau) const {
    const double overhead = way.overhead(bytes);
    if (bytes <= longest_piece_) return overhead + 2 * way.L(bytes, tau);
    const double pieces = std::ceil(bytes / longest_piece_);
    if (kind == AtomKind::send_receive) return overhead + 2 * pieces * way.L(longest_piece_, tau);
    return overhead + 2 * way.L(longest_piece_, tau) + (pieces - 1) * way.L(longest_piece_, 2 * tau);
  }

  const ModelPlatform& platform_;
  const TransportModel transport_;
  const double bytes_;
  const double longest_piece_;  // a longer message is segmented
  const double segment_;        // S
};

}  // namespace

double evaluate(const Expression& expression, const ModelPlatform& platform, double bytes,
                const TransportModel& transport, double segment) {
  return Evaluation(platform, bytes, transport, segment).of(expression);
}

}  // namespace convene::model
