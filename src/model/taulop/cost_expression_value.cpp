// SPDX-License-Identifier: BSD-3-Clause
// Cost expressions as seconds.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "base/names.hpp"
#include "model/logp/message_cost.hpp"
#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_expression.hpp"

namespace convene::model {

namespace {

class Evaluation {
 public:
  Evaluation(const Platform& platform, double bytes, const Transport& transport, double segment)
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
    const Channel& found = platform_.channels[channel];
    if (!found.taulop)
      throw Error(fmt::format(
          "the platform {} has no parameters taulop for the channel {}; take another model or platform",
          in_quotes(platform_.name), in_quotes(found.name)));
    return *found.taulop;
  }

  double of(const Atom& atom, std::uint32_t concurrency) const {
    const std::uint32_t tau = atom.tau * concurrency;
    switch (atom.kind) {
      case Kind::overhead:
        return parameters(atom.channel).overhead(size(atom.size));
      case Kind::transfer:
        return parameters(atom.channel).L(size(atom.size), tau, atom.sort);
      case Kind::copy:
        return at(platform_.copy, size(atom.size), tau);
      case Kind::computation:
        return computation_cost(platform_, size(atom.size), tau);
      case Kind::packing:
        return packing(size(atom.size));
      case Kind::transmission:
      case Kind::send_receive:
        return transmission(atom, tau);
    }
    return 0;
  }

  double packing(double bytes) const {
    if (!platform_.packing)
      throw Error(
          fmt::format("the platform {} does not say what packing costs (model.packing); measure it anew, or "
                      "leave out --packed",
                      in_quotes(platform_.name)));
    return (*platform_.packing)(bytes);
  }

  double transmission(const Atom& atom, std::uint32_t tau) const {
    const TauLop& way = parameters(atom.channel);
    const double bytes = size(atom.size);
    const double once = way.overhead(bytes) + way.L(bytes, tau, atom.sort);
    if (atom.channel >= transport_.network_channel) {
      if (transport_.network == Network::rdma) return once;
      return once + 2 * parameters(transport_.network_channel - 1).L(bytes, tau);
    }
    switch (transport_.memory) {
      case Memory::zero_copy:
        return once;
      case Memory::copy_in_copy_out:
        return once + way.L(bytes, tau);
      case Memory::buffered:
        return once + 2 * way.L(bytes, tau);
      case Memory::segments:
      case Memory::long_segments:
        break;
    }
    return segmented(way, atom.kind, bytes, tau);
  }

  /// (3.2) and (3.7); in both, a message of one segment is an ordinary one.
  double segmented(const TauLop& way, Kind kind, double bytes, std::uint32_t tau) const {
    const double overhead = way.overhead(bytes);
    if (bytes <= longest_piece_) return overhead + 2 * way.L(bytes, tau);
    const double pieces = std::ceil(bytes / longest_piece_);
    if (kind == Kind::send_receive) return overhead + 2 * pieces * way.L(longest_piece_, tau);
    return overhead + 2 * way.L(longest_piece_, tau) + (pieces - 1) * way.L(longest_piece_, 2 * tau);
  }

  const Platform& platform_;
  const Transport transport_;
  const double bytes_;
  const double longest_piece_;  // of a message
  const double segment_;        // S, where an expression is written in segments of m
};

}  // namespace

double evaluate(const Expression& expression, const Platform& platform, double bytes,
                const Transport& transport, double segment) {
  return Evaluation(platform, bytes, transport, segment).of(expression);
}

}  // namespace convene::model
