// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric_library.hpp"

#include <dlfcn.h>

namespace convene::transport {
namespace {

constexpr std::uint32_t oldest = (1u << 16) | 17;  // major and minor, as fi_version() has them

std::string text_of(std::uint32_t version) {
  return std::to_string(version >> 16) + "." + std::to_string(version & 0xffff);
}

struct Loaded {
  FabricLibrary library;
  std::string why_not;  // empty: it is loaded
};

void* open_library(const std::string& file, std::string& why_not) {
  constexpr const char* soname = "libfabric.so.1";
  if (!file.empty()) {
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) why_not = std::string("CONVENE_LIBFABRIC cannot be loaded: ") + dlerror();
    return handle;
  }
  if (void* const present = dlopen(soname, RTLD_NOW | RTLD_NOLOAD)) return present;
  void* const handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (!handle) why_not = "libfabric is not installed (libfabric.so.1; CONVENE_LIBFABRIC names another file)";
  return handle;
}

template <class Function>
bool find(void* handle, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  return function != nullptr;
}

Loaded load(const std::string& file) {
  Loaded loaded;
  void* const handle = open_library(file, loaded.why_not);
  if (!handle) return loaded;
  FabricLibrary& library = loaded.library;
  std::uint32_t (*version)() = nullptr;
  if (!find(handle, "fi_version", version) || !find(handle, "fi_getinfo", library.getinfo) ||
      !find(handle, "fi_freeinfo", library.freeinfo) || !find(handle, "fi_dupinfo", library.dupinfo) ||
      !find(handle, "fi_fabric", library.fabric) || !find(handle, "fi_strerror", library.strerror)) {
    loaded.why_not = "the file that was loaded as libfabric lacks its functions";
    return loaded;
  }
  library.version = version();
  Dl_info where{};
  if (dladdr(reinterpret_cast<void*>(library.getinfo), &where) && where.dli_fname)
    library.path = where.dli_fname;
  if (library.version < oldest)
    loaded.why_not = "libfabric " + library.version_text() + " is too old (" + library.path +
                     "); Convene needs " + text_of(oldest) + " or later";
  return loaded;
}

}  // namespace

std::string FabricLibrary::version_text() const { return text_of(version); }

const FabricLibrary* fabric_library(const std::string& file, std::string& why_not) {
  static const Loaded& once = *new Loaded(load(file));  // never unloaded: a provider may have threads
  why_not = once.why_not;
  return once.why_not.empty() ? &once.library : nullptr;
}

}  // namespace convene::transport
