// SPDX-License-Identifier: BSD-3-Clause
// Under what circumstances was measured.
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace convene::bench {

inline std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The system's load averages, and how many of its threads run right now.
inline std::string load() { return first_line("/proc/loadavg"); }

inline std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "";
}

/// What the MPI says of itself, first line; runs of blanks become one.
inline std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::istringstream line(std::string(text, std::strcspn(text, "\n")));
  std::string all;
  for (std::string word; line >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// The names of the machines that the ranks are on, at rank 0. Collective.
inline std::set<std::string> hosts(int procs) {
  char mine[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(mine, &length);
  std::vector<char> all(sizeof mine * static_cast<std::size_t>(procs));
  MPI_Gather(mine, sizeof mine, MPI_CHAR, all.data(), sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::set<std::string> names;
  for (std::size_t at = 0; at < all.size(); at += sizeof mine) names.insert(&all[at]);
  return names;
}

inline std::string now() {
  char text[32];
  const std::time_t time = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

/// Collective; rank 0 gets what is to be written down.
inline nlohmann::json environment(int procs) {
  return {{"mpi", mpi_version()},
          {"processor", processor()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"hosts", hosts(procs)},
          {"started", now()}};
}

}  // namespace convene::bench
