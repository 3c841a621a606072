// SPDX-License-Identifier: BSD-3-Clause
// Wisdom: the library's own reader of its files, and the place of this machine.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.hpp"
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

}  // namespace

void add_wisdom(nb::module_& module) {
  module.def("wisdom", &wisdom, nb::arg("text"), nb::arg("origin"),
             "Checks the text of a wisdom file; returns the number of its entries.");
  module.def("wisdom_files", &paths, nb::arg("variable"),
             "The paths that the library reads for a value of CONVENE_WISDOM.");
  module.def("place", &place, nb::arg("library_version"),
             "Name of an MPI from its library version, and processor, cores and network of this machine.");
}

}  // namespace convene::binding
