// SPDX-License-Identifier: BSD-3-Clause
#include "experiment/demand.hpp"

namespace convene::experiment {

Demand demand_of(Collective collective, Rank root, const std::vector<double>& blocks) {
  Demand demand{.bytes = blocks};
  if (collective == Collective::barrier) return {.data = Demand::Data::inputs, .empty = true};
  switch (traits(collective).postcondition) {
    case Postcondition::allgather:
      demand.data = Demand::Data::inputs;
      break;
    case Postcondition::gather:
      demand.data = Demand::Data::inputs;
      demand.destination = root;
      break;
    case Postcondition::bcast:
      demand.data = Demand::Data::inputs;
      demand.source = root;
      break;
    case Postcondition::scatter:
      demand.data = Demand::Data::parts;
      demand.source = root;
      break;
    case Postcondition::alltoall:
      demand.data = Demand::Data::parts;
      break;
    case Postcondition::reduce:
      demand.data = Demand::Data::combined;
      demand.destination = root;
      break;
    case Postcondition::allreduce:
      demand.data = Demand::Data::combined;
      break;
    case Postcondition::reduce_scatter:
      demand.data = Demand::Data::combined;
      demand.same = false;
      break;
    case Postcondition::scan:
    case Postcondition::exscan:
      demand.data = Demand::Data::combined;
      demand.prefix = true;
      break;
    case Postcondition::neighbor_allgather:
    case Postcondition::neighbor_alltoall:
      break;
  }
  return demand;
}

}  // namespace convene::experiment
