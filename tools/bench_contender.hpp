// SPDX-License-Identifier: BSD-3-Clause
// Contenders: everything that can be asked to do the collective, each on a communicator of its own.
#pragma once

#include <mpi.h>

#include <string>

#include "bench_collective.hpp"
#include "bench_data.hpp"
#include "bench_forcing.hpp"
#include "bench_neighbors.hpp"

namespace convene::bench {

inline MPI_Comm duplicate_of_world() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return comm;
}

class Contender {
 public:
  /// By name: native (the MPI's own choice), intercepted (as a program calls it), mpi:NAME (one of the MPI's own
  /// algorithms), or an algorithm of Convene's with its parameters. Collective.
  Contender(std::string name, const std::string& collective, Forcing& forcing)
      : name_(std::move(name)), forcing_(&forcing) {
    const std::string own = "mpi:";
    const bool is_convene = name_ != "native" && name_ != "intercepted" && !name_.starts_with(own);
    if (name_ == "intercepted") door_ = &program_door;
    if (name_.starts_with(own)) value_ = forced_value(name_.substr(own.size()), collective);
    if (is_convene) door_ = &convene_door;
    if (forcing.is_by_communicator()) forcing.choose(value_);
    comm_ = is_neighborhood(collective_of(collective)) ? make_plane() : duplicate_of_world();
    if (forcing.is_by_communicator()) forcing.choose(0);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    if (is_convene && convene_use(comm_, (collective + "=" + name_).c_str()) != MPI_SUCCESS)
      throw RequestError(convene_error());
  }

  const std::string& name() const { return name_; }
  void free() { MPI_Comm_free(&comm_); }

  /// To be called before a batch of calls: what the MPI has to be told for them.
  void prepare() const {
    if (!forcing_->is_by_communicator()) forcing_->choose(value_);
  }

  int call(Data& data) const { return data.call(*door_, comm_); }

 private:
  int forced_value(const std::string& wanted, const std::string& collective) const {
    if (const auto value = forcing_->value_of(wanted)) return *value;
    std::string known;
    for (const std::string& name : forcing_->names()) known += (known.empty() ? "" : ", ") + name;
    throw RequestError(known.empty() ? "this MPI's algorithms for " + collective +
                                           " cannot be chosen while a program runs; leave out " + name_
                                     : "this MPI has no algorithm '" + wanted + "' for " + collective +
                                           " that can be chosen; it has: " + known);
  }

  std::string name_;
  Forcing* forcing_;
  const Door* door_ = &own_door;
  int value_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace convene::bench
