// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: the library's own reader of its files, the place of this machine, and what the library's model
// expects to be fast.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>

#include "binding.hpp"
#include "decide/trial_candidates.hpp"
#include "decide/wisdom_files.hpp"

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

}  // namespace

void add_wisdom(nb::module_& module) {
  module.def("wisdom", &wisdom, nb::arg("text"), nb::arg("origin"),
             "Checks the text of a wisdom file; returns the number of its entries.");
  module.def("wisdom_files", &paths, nb::arg("variable"),
             "The paths that the library reads for a value of CONVENE_WISDOM.");
  module.def("prior", &prior, nb::arg("collective"), nb::arg("node_of_rank"), nb::arg("block"),
             nb::arg("most"),
             "The algorithms that the library's model expects to be the fastest, best first.");
  module.def("place", &place, nb::arg("library_version"),
             "Name of an MPI from its library version, and processor, cores and network of this machine.");
}

}  // namespace convene::binding
