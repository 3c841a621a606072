// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/spec_requirements.hpp"

#include "base/error.hpp"
#include "topology/mapping.hpp"

namespace convene::experiment {

namespace {

constexpr Rank most_online = 1u << 14;  // simulated in seconds

}  // namespace

std::string complete_spec(const std::string& collective, const std::string& spec,
                          const std::vector<std::pair<std::string, std::string>>& options) {
  std::string text = spec;
  for (const auto& [option, value] : options) text.append(";").append(option).append("=").append(value);
  return spec_text(parse_spec(parse_collective(collective), text));
}

std::vector<Rank> nodes_of(const Algorithm& algorithm, Rank procs, const std::string& machine,
                           const std::string& placement) {
  if (!depends_on_nodes(algorithm)) return {};
  if (machine.empty() && placement.empty())
    return algorithm.shared_places ? std::vector<Rank>(procs, 0) : std::vector<Rank>{};
  return Mapping::parse(machine, placement.empty() ? "sequential" : placement, procs).node_of_rank();
}

std::vector<Domains> domains_of(const Spec& spec, Rank procs, const std::string& machine,
                                const std::string& placement) {
  if (!depends_on_domains(spec) || machine.empty()) return {};
  return Mapping::parse(machine, placement.empty() ? "sequential" : placement, procs).domains_of_rank();
}

void require_schedules(const Spec& spec, Rank procs, const std::string& advice) {
  if (spec.algorithm->is_native()) throw Error("native algorithms have no schedule" + advice);
  if (procs < 1 || procs > most_procs)
    throw Error("the number of processes must be from 1 to " + std::to_string(most_procs) + ", not " +
                std::to_string(procs));
}

void require_root(Rank root, Rank procs) {
  if (root >= procs)
    throw Error("root " + std::to_string(root) + " is out of range (" + std::to_string(procs) +
                " processes)");
}

void require_met(const Spec& spec, const Call& call) {
  const std::string who = std::string(name(call.collective)) + "=" + spec_text(spec);
  if (uses_nodes(*spec.algorithm) && call.nodes.empty())
    throw Error(who + " needs the mapping of ranks to nodes; give --mapping \"node:4 core:8\"");
  if (depends_on_domains(spec) && call.domains.empty())
    throw Error(
        who +
        " needs a level within the nodes (socket, numa, l3); give --mapping \"node:2 socket:2 core:4\"");
  if (const std::string unmet = unmet_requirement(*spec.algorithm, call); !unmet.empty())
    throw Error(who + " " + unmet +
                (uses_nodes(*spec.algorithm) ? "" : ", not " + std::to_string(call.procs)));
  if (spec.algorithm->is_online() && call.procs > most_online)
    throw Error(who + " is an online algorithm, whose ranks are simulated together; use at most " +
                std::to_string(most_online) + ", not " + std::to_string(call.procs));
}

std::string unmet_by(const std::string& collective, const std::string& spec, Rank procs,
                     const std::string& machine, const std::string& placement, bool commutative) {
  Call call{.collective = parse_collective(collective), .procs = procs, .commutative = commutative};
  const Spec parsed = parse_spec(call.collective, spec);
  call.parameters = parsed.parameters;
  call.parts = parsed.parts;
  call.nodes = nodes_of(*parsed.algorithm, procs, machine, placement);
  if (uses_nodes(*parsed.algorithm) && call.nodes.empty()) return "";
  call.domains = domains_of(parsed, procs, machine, placement);
  if (depends_on_domains(parsed) && call.domains.empty()) return "needs a level within the nodes";
  return unmet_requirement(*parsed.algorithm, call);
}

}  // namespace convene::experiment
