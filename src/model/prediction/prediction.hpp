// SPDX-License-Identifier: BSD-3-Clause
// What a plan costs under any model, by the model's name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/platform/model_platform.hpp"
#include "model/taulop/cost_expression.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

/// The names of all models that predict times: those of the LogP family, and taulop.
std::vector<std::string_view> model_names();
/// Those for which every channel of a platform has parameters.
std::vector<std::string_view> model_names(const Platform& platform);

/// What a platform file may call the way of messages: first those of memory, then those of the network.
std::vector<std::string_view> transport_words();
/// Throws Error.
Memory parse_memory(std::string_view word);
Network parse_network(std::string_view word);

/// How messages of at most so many bytes travel on this platform: as its channels say; those that fit one segment are not
/// segmented.
Transport transport(const Platform& platform, double bytes);

/// The largest τ-Lop segment that the platform's memory uses; 0 where it does not say.
double segment(const Platform& platform);

/// The cost of one plan on one mapping for many sizes: what does not depend on the size is done once.
class Predictor {
 public:
  /// `place`: what part of m one place of the plan holds; `packed`: the program's data does not lie in one piece (Derivation;
  /// for taulop only). Keeps references to plan, mapping and platform. Throws Error.
  Predictor(const Plan& plan, const Mapping& mapping, const Platform& platform, std::string_view model,
            Rational place = 1, bool packed = false);

  /// Seconds from a start in step until the last rank is done, where m has so many bytes.
  double seconds(double bytes) const;

 private:
  const Plan& plan_;
  const Mapping& mapping_;
  const Platform& platform_;
  const std::string model_;
  const Rational place_;
  Expression short_, segmented_;  ///< τ-Lop: messages as a whole, and in segments
  double largest_ = 0;            ///< message, in units of m; 0 where nothing is segmented
};

/// Σ bytes × |node(from) − node(to)| over all messages, where m has so many bytes: the cost of a mapping in the Sparbit
/// work, section 5.3. Not a time.
double hop_bytes(const Plan& plan, const Mapping& mapping, double bytes, Rational place = 1);

}  // namespace convene::model
