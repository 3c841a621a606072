// SPDX-License-Identifier: BSD-3-Clause
// GPU runtimes in this process: where one is loaded, a buffer may be device memory.
#pragma once

#include <string_view>

#include "base/layers.hpp"

namespace convene::base {

/// The GPU runtime to which a library belongs: "CUDA", "HIP" or "Level Zero"; empty: none. `path` is as the
/// loader knows it: "/usr/lib/libcuda.so.1".
std::string_view device_runtime_of(std::string_view path);

/// Whether this node has a device file of a GPU: of NVIDIA's or AMD's driver, of another one that renders, or
/// of WSL. Without one no buffer is device memory.
bool node_has_gpu();

/// The first GPU runtime that is loaded now; empty if none is. Loads and starts nothing.
std::string_view loaded_device_runtime();

}  // namespace convene::base
