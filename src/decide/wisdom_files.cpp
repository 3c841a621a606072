// SPDX-License-Identifier: BSD-3-Clause
#include "decide/wisdom_files.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/error.hpp"
#include "decide/wisdom_texts.hpp"

namespace convene::decide {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Why a file is not to be trusted: a clause, or empty. Wisdom decides what runs in a program.
std::string distrust(const struct stat& facts) {
  if (!S_ISREG(facts.st_mode)) return "is not a regular file";
  if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "is writable by other users; run chmod go-w";
  if (facts.st_uid != geteuid() && facts.st_uid != 0) return "belongs to another user";
  constexpr off_t largest = 16 << 20;
  if (facts.st_size > largest) return "is larger than 16 MiB";
  return "";
}

/// The model name, of an architecture without one its other names: "0x41 0xd0c".
std::string cpu_of(std::string_view cpuinfo) {
  const auto value = [&](std::string_view key) -> std::string {
    std::size_t at = cpuinfo.starts_with(key) ? 0 : cpuinfo.find("\n" + std::string(key));
    if (at == std::string_view::npos) return "";
    at = cpuinfo.find(": ", at);
    if (at == std::string_view::npos) return "";
    std::string text(cpuinfo.substr(at + 2, cpuinfo.find('\n', at) - at - 2));
    std::ranges::replace(text, '\t', ' ');
    return text;
  };
  if (std::string model = value("model name"); !model.empty()) return model;
  const std::string implementer = value("CPU implementer"), part = value("CPU part");
  return implementer.empty() ? "unknown" : implementer + " " + part;
}

std::string network() {
  std::vector<std::string> names;
  if (DIR* const directory = opendir("/sys/class/infiniband")) {
    while (const dirent* const each = readdir(directory))
      if (each->d_name[0] != '.') names.emplace_back(each->d_name);
    closedir(directory);
  }
  std::ranges::sort(names);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

void read(const WisdomFile& file, unsigned index, WisdomReading& reading) {
  struct stat facts {};
  if (stat(file.path.c_str(), &facts) != 0) {
    if (!file.is_optional || errno != ENOENT)
      reading.refuse(file.path, std::string("cannot be read: ") + std::strerror(errno));
    return;
  }
  if (const std::string why = distrust(facts); !why.empty()) return reading.refuse(file.path, why);
  try {
    reading.take(read_whole_file(file.path, "wisdom file"), file.path, index);
  } catch (const Error& error) {
    reading.note(std::string("wisdom is ignored: ") + error.what());
  }
}

}  // namespace

std::vector<WisdomFile> wisdom_files(std::string_view variable) {
  if (variable == "none") return {};
  std::vector<WisdomFile> files;
  if (variable.empty()) {
    std::string data = environment("XDG_DATA_HOME");
    if (data.empty() && !environment("HOME").empty()) data = environment("HOME") + "/.local/share";
    if (!data.empty()) files.push_back({data + "/convene/wisdom.json"});
    files.push_back({std::string(site_wisdom)});
    return files;
  }
  while (!variable.empty()) {
    const std::size_t end = std::min(variable.find(':'), variable.size());
    const bool is_optional = variable.starts_with('-');
    const std::string_view path = variable.substr(is_optional, end - is_optional);
    if (!path.empty()) files.push_back({.path = std::string(path), .is_optional = is_optional});
    variable.remove_prefix(std::min(end + 1, variable.size()));
  }
  return files;
}

std::string distrust_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? distrust(facts) : "";
}

FoundWisdom read_wisdom(const std::vector<WisdomFile>& files, const MachineKey& here,
                        std::vector<WisdomEntry>* others) {
  WisdomReading reading(here, others);
  for (unsigned index = 0; index < files.size(); ++index) read(files[index], index, reading);
  return {reading.wisdom(), reading.refusals()};
}

MachineKey this_machine(std::string_view mpi_library_version) {
  std::string cpuinfo;
  try {
    cpuinfo = read_whole_file("/proc/cpuinfo", "file");
  } catch (const Error&) {
    // A system without it: "unknown" on all its machines.
  }
  return {.mpi = mpi_name(mpi_library_version),
          .cpu = cpu_of(cpuinfo),
          .cores = static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))),
          .network = network()};
}

}  // namespace convene::decide
