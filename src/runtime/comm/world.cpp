// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/comm/world.hpp"

#include "runtime/comm/communicator.hpp"
#include "runtime/comm/shared_wisdom.hpp"
#include "runtime/process/process.hpp"
#include "runtime/results/result_files.hpp"
#include "runtime/settings/settings.hpp"

namespace convene::runtime {

void prepare_world() {
  if (results::prepare({settings().profile_directory, settings().record_directory}))
    process::at_end(process::EndStage::collect, results::collect);
  check_optional_rules();
  share_wisdom_in_world();  // before the communicator: it may choose algorithms of Convene's
  Communicator::prepare(MPI_COMM_WORLD);
}

}  // namespace convene::runtime
