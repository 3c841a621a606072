// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/settings/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "base/sizes.hpp"
#include "base/whole_file.hpp"
#include "decide/rules.hpp"
#include "execute/stall_detector.hpp"
#include "mpi/functions.hpp"
#include "topology/mapping.hpp"

namespace convene::runtime {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The index of the variable's value in a list of words; 0 if the variable is not set.
int one_of(const char* name, std::initializer_list<std::string_view> words) {
  const std::string_view value = variable(name);
  if (value.empty()) return 0;
  int i = 0;
  std::string known;
  for (const std::string_view word : words) {
    if (word == value) return i;
    ++i;
    known += (known.empty() ? "" : ", ") + std::string(word);
  }
  throw Error(std::string(name) + "='" + std::string(value) + "' is not known; try one of: " + known);
}

std::uint64_t bytes(const char* name, std::uint64_t fallback) {
  const std::string_view value = variable(name);
  if (value.empty()) return fallback;
  try {
    return parse_size(value);
  } catch (const Error& error) {
    throw Error(std::string(name) + ": " + error.what());
  }
}

std::uint64_t number(const char* name, std::uint64_t fallback) {
  const std::string_view value = variable(name);
  if (value.empty()) return fallback;
  constexpr std::size_t most_digits = 18;
  if (value.find_first_not_of("0123456789") == std::string_view::npos && value.size() <= most_digits)
    return std::stoull(std::string(value));
  throw Error(std::string(name) + "='" + std::string(value) + "' must be a whole number, 0 or more");
}

std::size_t bounded(const char* name, std::size_t fallback, std::size_t least, std::size_t most) {
  const std::uint64_t value = number(name, fallback);
  if (value >= least && value <= most) return value;
  throw Error(std::string(name) + "=" + std::to_string(value) + " is out of range; give a number from " +
              std::to_string(least) + " to " + std::to_string(most));
}

/// A share that is given in percent, from 0 to 100.
double percentage(const char* name, double fallback) {
  const std::string value(variable(name));
  if (value.empty()) return fallback;
  char* end = nullptr;
  const double percent = std::strtod(value.c_str(), &end);
  const bool is_number = end != value.c_str() && (*end == '\0' || std::string_view(end) == "%");
  if (is_number && percent >= 0 && percent <= 100) return percent / 100;
  throw Error(std::string(name) + "='" + value + "' must be a number of percent from 0 to 100, such as 0.5");
}

/// A duration; without a unit it is in seconds.
Nanoseconds seconds(const char* name) {
  const std::string value(variable(name));
  if (value.empty()) return 0;
  try {
    return parse_duration(value.find_first_not_of("0123456789.") == std::string::npos ? value + "s" : value);
  } catch (const Error& error) {
    throw Error(std::string(name) + ": " + error.what());
  }
}

bool is_first_of_world() {
  int rank = 0;
  return pmpi.Comm_rank && pmpi.Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && rank == 0;
}

/// CONVENE_PROFILE_DIR, or its former name.
std::string_view profile_directory() {
  const std::string_view directory = variable("CONVENE_PROFILE_DIR");
  return directory.empty() ? variable("CONVENE_ACCOUNT_DIR") : directory;
}

/// tagged, notified or hybrid[:SIZE]; nullopt for another text. Throws Error.
std::optional<FabricProtocol> fabric_protocol(std::string_view text) {
  constexpr std::string_view hybrid_of_size = "hybrid:";
  if (text == "tagged") return FabricProtocol{FabricProtocol::Kind::tagged};
  if (text == "notified") return FabricProtocol{FabricProtocol::Kind::notified};
  if (text == "hybrid") return FabricProtocol{FabricProtocol::Kind::hybrid};
  if (!text.starts_with(hybrid_of_size)) return std::nullopt;
  try {
    return FabricProtocol{FabricProtocol::Kind::hybrid, parse_size(text.substr(hybrid_of_size.size()))};
  } catch (const Error& error) {
    throw Error(std::string("CONVENE_TRANSPORT: ") + error.what());
  }
}

/// CONVENE_TRANSPORT=mpi|fabric[:PROVIDER[:PROTOCOL]]. What was measured over messages of the MPI is not used
/// with another transport. The provider may be empty if a protocol follows.
void read_transport(Settings& result) {
  const std::string_view value = variable("CONVENE_TRANSPORT");
  if (value.empty() || value == "mpi") return;
  const std::size_t first = std::min(value.find(':'), value.size());
  const std::size_t second = std::min(value.find(':', first + 1), value.size());
  const std::string_view provider = first < second ? value.substr(first + 1, second - first - 1) : "";
  const auto protocol = fabric_protocol(second < value.size() ? value.substr(second + 1) : "tagged");
  const bool is_complete = first == value.size() || second < value.size() || !provider.empty();
  if (value.substr(0, first) != "fabric" || !protocol || !is_complete)
    throw Error("CONVENE_TRANSPORT='" + std::string(value) +
                "' is not known; try one of: mpi, fabric, fabric:PROVIDER (as in fabric:tcp), "
                "fabric:PROVIDER:tagged, fabric:PROVIDER:notified, fabric:PROVIDER:hybrid, "
                "fabric:PROVIDER:hybrid:SIZE (as in fabric:tcp:hybrid:32KiB)");
  if (stack::is_simulated) return;
  result.uses_fabric = true;
  result.fabric_protocol = *protocol;
  result.fabric_library = variable("CONVENE_LIBFABRIC");
  result.fabric_provider = provider;
  result.wisdom_files.clear();
  result.learns = result.only_observes = false;
}

void hint_at_former_name() {
  if (!variable("CONVENE_PROFILE_DIR").empty() || variable("CONVENE_ACCOUNT_DIR").empty()) return;
  if (is_first_of_world())
    std::fputs(
        "convene: CONVENE_ACCOUNT_DIR is now CONVENE_PROFILE_DIR; the old name works for one more release\n",
        stderr);
}

/// CONVENE_USE and CONVENE_RULES. `convene run` also passes the text of the rules file, which not every node
/// may have. A path behind a hyphen may be absent.
Selection read_selection(Settings& result) {
  std::string path(variable("CONVENE_RULES"));
  result.rules_may_be_absent = path.starts_with('-');
  if (result.rules_may_be_absent) {
    path.erase(0, 1);
    result.optional_rules_path = path;
    if (access(path.c_str(), F_OK) != 0 && errno == ENOENT)
      path.clear();
    else
      result.optional_rules_hash = std::hash<std::string>{}(read_whole_file(path, "rules file"));
  }
  const std::string_view uses = variable("CONVENE_USE"), text = variable("CONVENE_RULES_TEXT");
  if (path.empty() || text.empty()) return Selection::from(uses, path);
  return {parse_uses(uses), parse_rules(text, path), std::string_view(path).substr(path.rfind('/') + 1)};
}

Settings read_settings() {
  Settings result;
  result.selection = read_selection(result);
  if (!stack::is_simulated) result.wisdom_files = wisdom_files(variable("CONVENE_WISDOM"));
  result.profile_directory = profile_directory();
  hint_at_former_name();
  result.record_directory = variable("CONVENE_RECORD");
  result.record_calls = bounded("CONVENE_RECORD_CALLS", result.record_calls, 2, 1u << 28);
  result.wait_warning = seconds("CONVENE_WAIT_WARNING");
  result.log = static_cast<LogLevel>(one_of("CONVENE_LOG", {"quiet", "info"}));
  result.execution = static_cast<Execution>(one_of("CONVENE_EXECUTE", {"automatic", "compiled", "dynamic"}));
  result.device_memory =
      static_cast<DeviceMemory>(one_of("CONVENE_DEVICE_MEMORY", {"detect", "never", "always"}));
  result.machine = variable("CONVENE_MACHINE");
  result.mapping = variable("CONVENE_MAPPING");
  if (!variable("CONVENE_SYSFS").empty()) result.sysfs = variable("CONVENE_SYSFS");
  const int check = one_of("CONVENE_CHECK", {"nothing", "agreement", "no_schedules", "slow_choices", "gpu"});
  result.check_agreement = check == 1;
  result.refuses_schedules = check == 2;
  result.slows_choices = check == 3;
  result.assumes_gpu = check == 4;
  result.reproducible = one_of("CONVENE_REPRODUCIBLE", {"no", "yes"}) == 1;
  const std::uint64_t communicators =
      number("CONVENE_COMMUNICATORS", static_cast<std::uint64_t>(result.communicators));
  result.communicators = static_cast<int>(std::min<std::uint64_t>(communicators, INT_MAX));
  result.cache_bytes = bytes("CONVENE_CACHE", result.cache_bytes);
  result.shared_bytes = bytes("CONVENE_SHARED_MEMORY", result.shared_bytes);
  result.shared_wait = static_cast<SharedWait>(one_of("CONVENE_SHARED_WAIT", {"automatic", "poll", "sleep"}));
  result.shuffle = number("CONVENE_SHUFFLE", 0);
  result.watches_arrivals = one_of("CONVENE_ARRIVALS", {"none", "auto"}) == 1;
  const int learn = one_of("CONVENE_LEARN", {"no", "yes", "observe", "reductions"});
  result.learns = learn != 0 && !stack::is_simulated;
  result.only_observes = result.learns && learn == 2;
  result.learns_reductions = result.learns && learn == 3 && !result.reproducible;
  // Learning may create the first file.
  if (result.learns && !result.wisdom_files.empty()) result.wisdom_files.front().is_optional = true;
  result.learning_share = percentage("CONVENE_LEARN_BUDGET", result.learning_share);
  read_transport(result);
  result.progress_thread = one_of("CONVENE_PROGRESS_THREAD", {"0", "1"}) == 1;
  if (!variable("CONVENE_PROGRESS_CORE").empty())
    result.progress_core =
        static_cast<int>(std::min<std::uint64_t>(number("CONVENE_PROGRESS_CORE", 0), INT_MAX));
  return result;
}

}  // namespace

Mapping Settings::declared_places(Rank procs) const {
  try {
    return Mapping::parse(machine, mapping.empty() ? "sequential" : mapping, procs);
  } catch (const Error& error) {
    throw Error(std::string(mapping.empty() ? "CONVENE_MACHINE: " : "CONVENE_MAPPING: ") + error.what());
  }
}

const Settings& settings() {
  // Never freed: MPI_Finalize may be called after static destructors.
  static const Settings& once = *[] {
    try {
      return new Settings(read_settings());
    } catch (const Error& error) {
      refuse(error.what(), is_first_of_world());
    }
  }();
  return once;
}

void refuse(const std::string& why, bool speaks) {
  constexpr unsigned head_start_us = 2'000'000;  // delay on all ranks except the one that prints: the first
                                                 // abort ends all
  constexpr unsigned to_be_heard_us = 200'000;   // some launchers drop output that they have not forwarded by
                                                 // then
  if (!speaks) usleep(head_start_us);
  // A rank that still runs then is the only one with the error.
  std::fprintf(stderr, "convene: %s\n", why.c_str());
  std::fflush(stderr);
  if (const std::string directory(profile_directory()); !directory.empty())
    replace_file(directory + "/refusal-" + std::to_string(getpid()) + ".txt",
                 why);  // `convene run` repeats it
  usleep(to_be_heard_us);
  if (pmpi.Abort) pmpi.Abort(MPI_COMM_WORLD, 2);
  std::_Exit(2);
}

}  // namespace convene::runtime
