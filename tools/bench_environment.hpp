// SPDX-License-Identifier: BSD-3-Clause
// Environment of a measurement.
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

/// The system's load averages, and its number of running threads.
inline std::string load() { return first_line("/proc/loadavg"); }

inline std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
  return "";
}

/// The MPI's version text, first line; runs of blanks become one.
inline std::string mpi_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::istringstream line(std::string(text, std::strcspn(text, "\n")));
  std::string all;
  for (std::string word; line >> word;) all += (all.empty() ? "" : " ") + word;
  return all;
}

/// A text of every rank, by rank, at rank 0. Collective.
inline std::vector<std::string> of_all_ranks(const std::string& mine, int procs) {
  constexpr std::size_t most = 128;
  char text[most] = {};
  mine.copy(text, most - 1);
  std::vector<char> all(most * static_cast<std::size_t>(procs));
  MPI_Gather(text, most, MPI_CHAR, all.data(), most, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += most) texts.emplace_back(&all[at]);
  return texts;
}

/// The cores that this process may run on, as Linux writes them: "0-3,8".
inline std::string own_cores() {
  const std::string key = "Cpus_allowed_list:\t";
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

inline std::string host() {
  char name[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(name, &length);
  return name;
}

inline std::string date_and_time() {
  char text[32];
  const std::time_t time = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&time));
  return text;
}

/// Collective; rank 0 gets the record.
inline nlohmann::json environment(int procs) {
  const std::vector<std::string> hosts = of_all_ranks(host(), procs),
                                 cores = of_all_ranks(own_cores(), procs);
  return {{"mpi", mpi_version()},
          {"kernel", first_line("/proc/sys/kernel/osrelease")},
          {"processor", processor()},
          {"cores", sysconf(_SC_NPROCESSORS_ONLN)},
          {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
          {"hosts", std::set<std::string>(hosts.begin(), hosts.end())},
          {"host_of_rank", hosts},
          {"cores_of_rank", cores},
          {"started", date_and_time()}};
}

}  // namespace convene::bench
