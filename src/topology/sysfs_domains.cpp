// SPDX-License-Identifier: BSD-3-Clause
#include "topology/sysfs_domains.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>

#include "base/names.hpp"

namespace convene::topology {
namespace {

constexpr std::uint32_t most_cpus = 1u << 16;  // the kernel's limit is 8192

/// The first line of a file; nothing if it cannot be read.
std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (std::getline(file, line) || (file.is_open() && file.eof())) return line;  // a list may be empty
  return std::nullopt;
}

std::optional<std::uint32_t> take_cpu(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number >= most_cpus) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

class Reader {
 public:
  Reader(const std::string& root, std::span<const std::uint32_t> cpus)
      : system_(root + "/devices/system/"), cpus_(cpus.begin(), cpus.end()) {}

  FoundDomains find() {
    found_.domains.fill(no_domain(NoDomain::absent));
    std::sort(cpus_.begin(), cpus_.end());
    if (const auto online = list(system_ + "cpu/online"); online.value)
      std::erase_if(cpus_, [&](std::uint32_t cpu) { return !contains(*online.value, cpu); });
    if (cpus_.empty()) return std::move(found_);
    note(DomainLevel::socket, socket());
    note(DomainLevel::numa, numa());
    note(DomainLevel::l3, l3());
    return std::move(found_);
  }

 private:
  struct List {
    std::optional<Cpus> value;
    bool is_malformed = false;
  };

  static bool contains(const Cpus& list, std::uint32_t cpu) {
    return std::binary_search(list.begin(), list.end(), cpu);
  }

  std::string cpu_folder() const { return system_ + "cpu/cpu" + std::to_string(cpus_.front()) + "/"; }

  List list(const std::string& path) {
    const auto text = first_line(path);
    if (!text) return {};
    if (auto cpus = parse_cpu_list(*text)) return {std::move(cpus)};
    complain(path, *text, "a list of CPUs such as 0-3,8");
    return {std::nullopt, true};
  }

  void complain(const std::string& path, const std::string& text, const std::string& wanted) {
    if (found_.complaint.empty())
      found_.complaint =
          path + " has " + in_quotes(text.substr(0, 80)) + ", not " + wanted + ": its level is ignored";
  }

  void note(DomainLevel level, const List& domain) {
    std::uint32_t& at = found_.domains[static_cast<std::size_t>(level)];
    if (domain.is_malformed) at = no_domain(NoDomain::malformed);
    if (!domain.value || domain.value->empty()) return;
    const bool holds_all =
        std::includes(domain.value->begin(), domain.value->end(), cpus_.begin(), cpus_.end());
    at = holds_all ? domain.value->front() : no_domain(NoDomain::several);
  }

  List socket() {
    List found = list(cpu_folder() + "topology/package_cpus_list");
    return found.value || found.is_malformed ? found : list(cpu_folder() + "topology/core_siblings_list");
  }

  List l3() {
    for (unsigned index = 0;; ++index) {
      const std::string folder = cpu_folder() + "cache/index" + std::to_string(index) + "/";
      const auto level = first_line(folder + "level");
      if (!level) return {};
      if (trimmed(*level) == "3") return list(folder + "shared_cpu_list");
    }
  }

  List numa() {
    List nodes = list(system_ + "node/online");
    if (!nodes.value) return nodes;
    for (const std::uint32_t node : *nodes.value) {
      List here = list(system_ + "node/node" + std::to_string(node) + "/cpulist");
      if (here.is_malformed || (here.value && contains(*here.value, cpus_.front()))) return here;
    }
    return {};
  }

  const std::string system_;
  Cpus cpus_;
  FoundDomains found_;
};

}  // namespace

std::optional<Cpus> parse_cpu_list(std::string_view text) {
  text = trimmed(text);
  Cpus cpus;
  while (!text.empty()) {
    const auto first = take_cpu(text);
    auto last = first;
    if (first && text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_cpu(text);
    }
    if (!first || !last || *last < *first || (!cpus.empty() && *first <= cpus.back())) return std::nullopt;
    for (std::uint32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
    if (text.empty()) break;
    if (!text.starts_with(',') || text.size() == 1) return std::nullopt;
    text.remove_prefix(1);
  }
  return cpus;
}

FoundDomains find_domains(const std::string& root, std::span<const std::uint32_t> cpus) {
  return Reader(root, cpus).find();
}

Domains count_domains(const std::string& root) {
  std::array<std::set<std::uint32_t>, domain_levels.size()> found;
  const std::string online = first_line(root + "/devices/system/cpu/online").value_or("");
  for (const std::uint32_t cpu : parse_cpu_list(online).value_or(Cpus{})) {
    const Domains domains = find_domains(root, std::span(&cpu, 1)).domains;
    for (std::size_t level = 0; level < found.size(); ++level)
      if (is_domain(domains[level])) found[level].insert(domains[level]);
  }
  Domains counts{};
  for (std::size_t level = 0; level < found.size(); ++level)
    counts[level] = static_cast<std::uint32_t>(found[level].size());
  return counts;
}

Cpus affinity() {
  Cpus cpus;
  cpu_set_t* const set = CPU_ALLOC(most_cpus);
  if (!set) return cpus;
  const std::size_t bytes = CPU_ALLOC_SIZE(most_cpus);
  CPU_ZERO_S(bytes, set);
  if (sched_getaffinity(0, bytes, set) == 0)
    for (std::uint32_t cpu = 0; cpu < most_cpus; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
  CPU_FREE(set);
  return cpus;
}

}  // namespace convene::topology
