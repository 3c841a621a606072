// SPDX-License-Identifier: BSD-3-Clause
// The Python module convene._core: the pure layers.
#include "base/error.hpp"
#include "binding.hpp"

NB_MODULE(_core, module) {
  module.doc() = "Convene's catalogue, generators, checker, printers, rules and models.";
  module.attr("version") = CONVENE_VERSION;
  nanobind::exception<convene::base::Error>(module, "RequestError");
  convene::binding::add_arrivals(module);
  convene::binding::add_catalogue(module);
  convene::binding::add_requests(module);
  convene::binding::add_plans(module);
  convene::binding::add_models(module);
  convene::binding::add_wisdom(module);
  convene::binding::add_simulation(module);
}
