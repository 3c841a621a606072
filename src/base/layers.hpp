// SPDX-License-Identifier: BSD-3-Clause
// Namespaces of the layers. Each sees the names of the layers that src/ROOMS lets it include.
#pragma once

namespace convene::base {}
namespace convene::topology {}
namespace convene::arrival {}
namespace convene::patterns {}
namespace convene::schedule {}
namespace convene::collective {}
namespace convene::model {}
namespace convene::simulate {}
namespace convene::decide {}
namespace convene::mpi {}
namespace convene::transport {}
namespace convene::execute {}
namespace convene::clock {}
namespace convene::runtime {}
namespace convene::capi {}
namespace convene::interpose {}

namespace convene::topology {
using namespace base;
}
namespace convene::arrival {
using namespace base;
}
namespace convene::patterns {
using namespace base;
}
namespace convene::schedule {
using namespace base;
}
namespace convene::collective {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
}  // namespace convene::collective
namespace convene::model {
using namespace base;
using namespace topology;
using namespace schedule;
}  // namespace convene::model
namespace convene::simulate {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace schedule;
using namespace model;
}  // namespace convene::simulate
namespace convene::decide {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
}  // namespace convene::decide
namespace convene::mpi {
using namespace base;
}
namespace convene::transport {
using namespace base;
using namespace schedule;
using namespace mpi;
}  // namespace convene::transport
namespace convene::execute {
using namespace base;
using namespace schedule;
using namespace mpi;
using namespace transport;
}  // namespace convene::execute
namespace convene::clock {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace schedule;
using namespace mpi;
using namespace transport;
using namespace execute;
}  // namespace convene::clock
namespace convene::runtime {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
}  // namespace convene::runtime
namespace convene::capi {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
using namespace runtime;
}  // namespace convene::capi
namespace convene::interpose {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
using namespace runtime;
}  // namespace convene::interpose

// Programs outside src/: benchmarks, the measuring program, the Python module.
namespace convene::bench {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
}  // namespace convene::bench
namespace convene::measure {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
}  // namespace convene::measure
namespace convene::binding {
using namespace base;
using namespace topology;
using namespace arrival;
using namespace patterns;
using namespace schedule;
using namespace collective;
using namespace model;
using namespace simulate;
using namespace decide;
using namespace mpi;
using namespace transport;
using namespace execute;
using namespace clock;
}  // namespace convene::binding
