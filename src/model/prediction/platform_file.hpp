// SPDX-License-Identifier: BSD-3-Clause
// Files of model platforms (JSON, docs/models.md).
#pragma once

#include <string>
#include <string_view>

#include "model/platform/model_platform.hpp"

namespace convene::model {

/// Reads a platform. `origin` begins error messages: "FILE: field model.channels[0].loggp.L …". Throws Error.
ModelPlatform parse_model_platform(std::string_view json, std::string_view origin);
ModelPlatform load_model_platform(const std::string& path);

}  // namespace convene::model
