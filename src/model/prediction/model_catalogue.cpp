// SPDX-License-Identifier: BSD-3-Clause
#include "model/prediction/model_catalogue.hpp"

#include <vector>

#include "base/error.hpp"
#include "base/names.hpp"

namespace convene::model {

std::span<const CostModel* const> cost_models() {
#define CONVENE_ENTRY(name) &name##_model,
  static constexpr const CostModel* models[] = {CONVENE_COST_MODELS(CONVENE_ENTRY)};
#undef CONVENE_ENTRY
  return models;
}

const CostModel& find_model(std::string_view name) {
  std::vector<std::string_view> known;
  for (const CostModel* model : cost_models()) {
    if (model->name == name) return *model;
    known.push_back(model->name);
  }
  throw Error(no_such("model", name, known));
}

}  // namespace convene::model
