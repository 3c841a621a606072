// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: the library's own reader of its files, the place of this machine, what the library's model expects
// to be fast, and explanations of the library's choices.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "binding.hpp"
#include "decide/explanation.hpp"
#include "decide/trial_candidates.hpp"
#include "decide/wisdom_files.hpp"
#include "request_class.hpp"
#include "topology/sysfs_domains.hpp"

namespace nb = nanobind;

namespace convene::binding {

namespace {

/// The number of entries of a file's text.
std::size_t wisdom(const std::string& text, const std::string& origin) {
  return parse_wisdom(text, origin).size();
}

nb::dict place(const std::string& library_version) {
  const MachineKey here = this_machine(library_version);
  nb::dict dict;
  dict["mpi"] = here.mpi;
  dict["cpu"] = here.cpu;
  dict["cores"] = here.cores;
  dict["network"] = here.network;
  return dict;
}

std::vector<std::string> paths(const std::string& variable) {
  std::vector<std::string> found;
  for (const WisdomFile& file : wisdom_files(variable)) found.push_back(file.path);
  return found;
}

/// The best by the library's model, for a communicator whose ranks are on these nodes.
std::vector<std::string> prior(const std::string& collective, const std::vector<Rank>& node_of_rank,
                               std::uint64_t bytes, std::size_t most) {
  CallContext context{.collective = parse_collective(collective),
                      .procs = static_cast<Rank>(node_of_rank.size()),
                      .node_of_rank = node_of_rank};
  context.total_bytes = has_one_vector(context.collective) ? bytes : bytes * context.procs;
  std::map<Rank, Rank> ranks;
  for (const Rank node : node_of_rank)
    context.ranks_per_node = std::max(context.ranks_per_node, ++ranks[node]);
  context.nodes = static_cast<Rank>(ranks.size());
  std::vector<std::string> found;
  for (const Spec& spec : trial_candidates(context, most)) found.push_back(spec_text(spec));
  return found;
}

struct ExplainRequest {
  std::string collective;
  Rank procs = 1, nodes = 1;
  std::uint64_t bytes = 0;
  bool commutative = true, order_matters = false, reproducible = false, blocking = true;
  std::uint64_t may_share = UINT64_MAX;  ///< bytes on a node
  std::string uses, rules, wisdom, mpi;  ///< as in CONVENE_USE, CONVENE_RULES and CONVENE_WISDOM
};

Question question_of(const ExplainRequest& request) {
  Question question{.context = call_on_nodes(parse_collective(request.collective), request.procs,
                                             request.bytes, request.nodes),
                    .uses = request.uses,
                    .rules_path = request.rules,
                    .wisdom_files = wisdom_files(request.wisdom),
                    .here = this_machine(request.mpi)};
  CallContext& context = question.context;
  context.commutative = request.commutative;
  context.order_matters = request.order_matters;
  context.reproducible = request.reproducible;
  context.is_blocking = request.blocking;
  context.may_share = request.blocking ? request.may_share : request.may_share / non_blocking_parts;
  context.shares_cores = context.ranks_per_node > question.here.cores;
  return question;
}

nb::dict explained(const ExplainRequest& request) {
  const Question question = question_of(request);
  const Explanation explanation = explain(question);
  nb::list steps;
  for (const Explanation::Step& each : explanation.steps) {
    nb::dict step;
    constexpr const char* sources[] = {"use", "rule", "wisdom"};
    step["source"] = sources[static_cast<std::size_t>(each.source)];
    step["name"] = each.name;
    step["path"] = each.path;
    step["line"] = each.line;
    step["collective"] = str(name(each.collective));
    step["use"] = each.use;
    step["obstacle"] = each.obstacle;
    steps.append(step);
  }
  const Choice& choice = explanation.choice;
  nb::dict dict;
  dict["algorithm"] = spec_text(choice.spec);
  dict["reason"] = str(reason_text(choice.reason, choice.detail));
  dict["bytes"] = question.context.block_bytes();
  dict["has_bytes"] = has_known_bytes(question.context.collective);
  dict["ranks_per_node"] = question.context.ranks_per_node;
  dict["steps"] = steps;
  dict["refusals"] = explanation.refusals;
  return dict;
}

nb::dict node_levels(const std::string& sysfs) {
  nb::dict counts;
  const topology::Domains domains = topology::count_domains(sysfs);
  for (std::size_t level = 0; level < domains.size(); ++level)
    counts[str(topology::domain_level_names[level])] = domains[level];
  return counts;
}

}  // namespace

void add_wisdom(nb::module_& module) {
  module.def("wisdom", &wisdom, nb::arg("text"), nb::arg("origin"),
             "Checks the text of a wisdom file; returns the number of its entries.");
  module.def("wisdom_files", &paths, nb::arg("variable"),
             "The paths that the library reads for a value of CONVENE_WISDOM.");
  module.def("wisdom_distrust", &distrust_of, nb::arg("path"),
             "Why a wisdom file must not be used, as a clause; empty if it may be.");
  module.def("prior", &prior, nb::arg("collective"), nb::arg("node_of_rank"), nb::arg("block"),
             nb::arg("most"),
             "The algorithms that the library's model expects to be the fastest, best first.");
  module.def(
      "node_levels", &node_levels, nb::arg("sysfs"),
      "The number of sockets, NUMA nodes and L3 caches of this node, by level; 0 without such a level.");
  module.def("place", &place, nb::arg("library_version"),
             "Name of an MPI from its library version, and processor, cores and network of this machine.");
  RequestClass<ExplainRequest>(module, "ExplainRequest", "A call whose choice is explained.")
      .field("collective", &ExplainRequest::collective)
      .field("procs", &ExplainRequest::procs)
      .field("nodes", &ExplainRequest::nodes)
      .field("bytes", &ExplainRequest::bytes)
      .field("commutative", &ExplainRequest::commutative)
      .field("order_matters", &ExplainRequest::order_matters)
      .field("reproducible", &ExplainRequest::reproducible)
      .field("blocking", &ExplainRequest::blocking)
      .field("may_share", &ExplainRequest::may_share)
      .field("uses", &ExplainRequest::uses)
      .field("rules", &ExplainRequest::rules)
      .field("wisdom", &ExplainRequest::wisdom)
      .field("mpi", &ExplainRequest::mpi)
      .make_constructor();
  module.def("explain", &explained, nb::arg("request"),
             "The choice for a call, and why each other use, rule and entry of wisdom does not decide.");
}

}  // namespace convene::binding
