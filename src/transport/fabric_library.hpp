// SPDX-License-Identifier: BSD-3-Clause
// libfabric, loaded at run time: Convene's libraries need libc and the loader only.
#pragma once

#include <cstdint>
#include <string>

struct fi_fabric_attr;
struct fi_info;
struct fid_fabric;

namespace convene::transport {

/// Functions of libfabric that are not inline, and where they come from.
struct FabricLibrary {
  int (*getinfo)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                 const fi_info* hints, fi_info** info) = nullptr;
  void (*freeinfo)(fi_info* info) = nullptr;
  fi_info* (*dupinfo)(const fi_info* info) = nullptr;
  int (*fabric)(fi_fabric_attr* attributes, fid_fabric** made, void* context) = nullptr;
  const char* (*strerror)(int error) = nullptr;
  std::uint32_t version = 0;
  std::string path;  ///< of the file

  std::string version_text() const;
};

/// Loads libfabric once per process: `file`; if that is empty, the copy that the MPI has loaded, else the
/// system's. Null with a reason if there is none, or one older than 1.17.
const FabricLibrary* fabric_library(const std::string& file, std::string& why_not);

}  // namespace convene::transport
