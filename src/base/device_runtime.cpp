// SPDX-License-Identifier: BSD-3-Clause
#include "base/device_runtime.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace convene::base {
namespace {

struct DeviceLibrary {
  std::string_view name, runtime;
};

/// The drivers' and the runtimes' libraries; their versions differ.
constexpr DeviceLibrary device_libraries[] = {{"libcuda.so", "CUDA"},
                                              {"libcudart.so", "CUDA"},
                                              {"libamdhip64.so", "HIP"},
                                              {"libze_loader.so", "Level Zero"}};

int note_runtime(dl_phdr_info* info, std::size_t, void* found) {
  auto& runtime = *static_cast<std::string_view*>(found);
  runtime = info->dlpi_name ? device_runtime_of(info->dlpi_name) : "";
  return runtime.empty() ? 0 : 1;
}

}  // namespace

std::string_view device_runtime_of(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const DeviceLibrary& each : device_libraries)
    if (file.starts_with(each.name) && (file.size() == each.name.size() || file[each.name.size()] == '.'))
      return each.runtime;
  return "";
}

bool node_has_gpu() {
  constexpr const char* files[] = {"/dev/nvidiactl", "/dev/kfd", "/dev/dri/renderD128", "/dev/dxg"};
  return std::any_of(std::begin(files), std::end(files),
                     [](const char* file) { return access(file, F_OK) == 0; });
}

std::string_view loaded_device_runtime() {
  std::string_view found;
  dl_iterate_phdr(note_runtime, &found);
  return found;
}

}  // namespace convene::base
