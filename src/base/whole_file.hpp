// SPDX-License-Identifier: BSD-3-Clause
// Files that are complete or not there.
#pragma once

#include <string>
#include <string_view>

#include "base/layers.hpp"

namespace convene::base {

/// Writes a file in the place of the one before: `path`.part first, which is renamed when all of it is on its
/// way to the disk. If anything fails, the file before stays, the part is removed, and the reason is returned
/// (the system's words); else nothing.
std::string replace_file(const std::string& path, std::string_view text);

}  // namespace convene::base
