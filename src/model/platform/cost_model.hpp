// SPDX-License-Identifier: BSD-3-Clause
// Cost models as descriptors. A descriptor contains all that help, docs, the Python binding, the reader of
// platform files and predictions need of a model. A new model is one source file with its descriptor, and one
// line in cost_models.hpp.
#pragma once

#include <any>
#include <memory>
#include <string>
#include <string_view>

#include "model/platform/cost_models.hpp"
#include "model/platform/model_platform.hpp"
#include "model/platform/parameter_reader.hpp"
#include "model/platform/rational.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

struct MessageModel;

/// A parameter set: a field of a channel in a platform file. Several models may share one.
struct ParameterSet {
  std::string_view field;
  /// The value for ModelChannel::add(). Throws Error.
  std::any (*read)(const JsonField& field, const ParameterReader& reader);
  /// Checks that the sets of all channels are consistent; `channels` is the list in the file. Throws Error.
  /// May be null.
  void (*check)(const ModelPlatform& platform, const JsonField& channels) = nullptr;
};

/// A request for the cost of a plan. Keeps references.
struct PlanRequest {
  const Plan& plan;
  const Mapping& mapping;
  const ModelPlatform& platform;
  Rational place = 1;   ///< the part of m that one place of the plan holds
  bool packed = false;  ///< the program's data is noncontiguous (models with CostModel::has_packing)
};

/// The cost of a plan as a function of m. Everything independent of m is computed once.
class PlanCost {
 public:
  virtual ~PlanCost() = default;
  /// Seconds from a common start until the last rank is done, if m is `bytes` bytes.
  virtual double seconds(double bytes) const = 0;
};

struct CostModel {
  std::string_view name;     ///< of `--model`
  std::string_view summary;  ///< one line
  std::string_view source;   ///< publications
  // One row of the table of models, in the notation of the sources:
  std::string_view message;    ///< the cost of a message of m bytes
  std::string_view processor;  ///< the time of the sender's and of the receiver's processor
  std::string_view port;       ///< the time that a message occupies a port
  const ParameterSet* parameters;
  std::string_view requires_text = {};  ///< for error messages, "loggp with S"; empty: the name of the set
  bool (*covers)(const ModelChannel& channel);  ///< the channel has the model's parameters
  /// The cost of a plan. The platform covers the model. Throws Error.
  std::unique_ptr<PlanCost> (*prepare)(const CostModel& model, const PlanRequest& request);
  const MessageModel* messages = nullptr;  ///< the LogP family's cost of one message; null for other models
  bool has_packing = false;                ///< has a cost of packing noncontiguous data
};

/// For CostModel::covers: the channel has parameters of type P.
template <class P>
bool has_set(const ModelChannel& channel) {
  return channel.find<P>() != nullptr;
}

/// Every channel of the platform has the model's parameters. require_parameters() throws Error if not.
bool has_parameters(const CostModel& model, const ModelPlatform& platform);
/// Which parameters it lacks, as a clause; empty if it has all.
std::string missing_parameters(const CostModel& model, const ModelPlatform& platform);
void require_parameters(const CostModel& model, const ModelPlatform& platform);

#define CONVENE_DECLARE(name) extern const CostModel name##_model;
CONVENE_COST_MODELS(CONVENE_DECLARE)
#undef CONVENE_DECLARE

}  // namespace convene::model
