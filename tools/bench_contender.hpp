// SPDX-License-Identifier: BSD-3-Clause
// Contenders: everything that can be asked to do the collective, each on a communicator of its own.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

#include "bench_data.hpp"
#include "bench_forcing.hpp"
#include "convene/convene.h"

namespace convene::bench {

/// Whoever is wrong about what was asked for gets one sentence and exit status 2.
struct RequestError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Contender {
 public:
  enum class Kind {
    native,       ///< the MPI's own choice, past any drop-in library
    intercepted,  ///< as a program calls it
    forced,       ///< one of the MPI's own algorithms
    convene       ///< an algorithm of Convene's, by the C API
  };

  /// By name: native, intercepted, mpi:NAME, or an algorithm of Convene's with its parameters. Collective.
  Contender(std::string name, const std::string& collective, Forcing& forcing)
      : name_(std::move(name)), forcing_(&forcing), is_irregular_(collective == "allgatherv") {
    const std::string own = "mpi:";
    if (name_ == "native") {
      kind_ = Kind::native;
    } else if (name_ == "intercepted") {
      kind_ = Kind::intercepted;
    } else if (name_.starts_with(own)) {
      kind_ = Kind::forced;
      value_ = forced_value(name_.substr(own.size()), collective);
    } else {
      kind_ = Kind::convene;
    }
    if (forcing.is_by_communicator()) forcing.choose(value_);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    if (forcing.is_by_communicator()) forcing.choose(0);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    if (kind_ == Kind::convene && convene_use(comm_, (collective + "=" + name_).c_str()) != MPI_SUCCESS)
      throw RequestError(convene_error());
  }

  const std::string& name() const { return name_; }
  void free() { MPI_Comm_free(&comm_); }

  /// To be called before a batch of calls: what the MPI has to be told for them.
  void prepare() const {
    if (!forcing_->is_by_communicator()) forcing_->choose(value_);
  }

  int call(Data& data) const { return is_irregular_ ? gather_irregular(data) : gather(data); }

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

  int gather(Data& data) const {
    void *from = data.input(), *to = data.output();
    const int count = data.count();
    switch (kind_) {
      case Kind::intercepted:
        return MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, comm_);
      case Kind::convene:
        return convene_allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, comm_);
      case Kind::native:
      case Kind::forced:
        break;
    }
    return PMPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, comm_);
  }

  int gather_irregular(Data& data) const {
    void *from = data.input(), *to = data.output();
    const int *counts = data.counts(), *at = data.displacements();
    switch (kind_) {
      case Kind::intercepted:
        return MPI_Allgatherv(from, data.count(), MPI_BYTE, to, counts, at, MPI_BYTE, comm_);
      case Kind::convene:
        return convene_allgatherv(from, data.count(), MPI_BYTE, to, counts, at, MPI_BYTE, comm_);
      case Kind::native:
      case Kind::forced:
        break;
    }
    return PMPI_Allgatherv(from, data.count(), MPI_BYTE, to, counts, at, MPI_BYTE, comm_);
  }

  std::string name_;
  Forcing* forcing_;
  bool is_irregular_;
  Kind kind_ = Kind::native;
  int value_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace convene::bench
