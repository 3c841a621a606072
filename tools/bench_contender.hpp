// SPDX-License-Identifier: BSD-3-Clause
// Contenders: all implementations of the collective, each on its own communicator.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

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

/// The forecast of an algorithm. `average`: the mean of each rank's last five delays. `mirrored`: a wrong
/// one, in which the first rank has the last one's delay, and so on.
enum class Forecast { none, truth, average, mirrored };

class Contender {
 public:
  /// By name: native (the native choice), intercepted (as a program calls it), mpi:NAME (a native algorithm),
  /// or an algorithm of Convene's with its parameters, and @KIND if it uses a forecast. With a forecast it
  /// has a communicator for each pattern, so that an unchanged forecast is set once. Collective.
  Contender(std::string name, const std::string& collective, Forcing& forcing, std::size_t patterns)
      : name_(std::move(name)), forcing_(&forcing) {
    const std::string own = "mpi:";
    const bool is_convene = name_ != "native" && name_ != "intercepted" && !name_.starts_with(own);
    if (name_ == "intercepted") calls_ = &program_calls;
    if (name_.starts_with(own)) value_ = forced_value(name_.substr(own.size()), collective);
    if (is_convene) calls_ = &convene_calls;
    const std::size_t at = is_convene ? name_.find('@') : std::string::npos;
    if (at != std::string::npos) forecast_ = forecast_of(name_.substr(at + 1));
    if (forcing.is_by_communicator()) forcing.choose(value_);
    for (std::size_t i = 0; i < (has_forecast() ? patterns : 1); ++i)
      comms_.push_back(is_neighborhood(collective_of(collective)) ? make_plane() : duplicate_of_world());
    if (forcing.is_by_communicator()) forcing.choose(0);
    const std::string use = collective + "=" + name_.substr(0, at);
    for (const MPI_Comm comm : comms_) {
      MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
      if (is_convene && convene_use(comm, use.c_str()) != MPI_SUCCESS) throw RequestError(convene_error());
    }
  }

  const std::string& name() const { return name_; }
  void free() {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }

  bool has_forecast() const { return forecast_ != Forecast::none; }
  Forecast forecast() const { return forecast_; }
  /// Expected arrival of each rank under a pattern, in seconds; empty: no forecast.
  void expect(std::size_t pattern, const std::vector<double>& seconds) const {
    convene_expect(comm(pattern), seconds.empty() ? nullptr : seconds.data());
  }

  /// Call it before a batch of calls: sets the MPI's variables for them.
  void prepare() const {
    if (!forcing_->is_by_communicator()) forcing_->choose(value_);
  }

  int call(Data& data, std::size_t pattern) const { return data.call(*calls_, comm(pattern)); }

 private:
  MPI_Comm comm(std::size_t pattern) const { return comms_[has_forecast() ? pattern : 0]; }

  static Forecast forecast_of(const std::string& kind) {
    if (kind == "truth") return Forecast::truth;
    if (kind == "average") return Forecast::average;
    if (kind == "mirrored") return Forecast::mirrored;
    throw RequestError("unknown forecast '" + kind + "'; choose truth, average or mirrored");
  }

  int forced_value(const std::string& wanted, const std::string& collective) const {
    if (const auto value = forcing_->value_of(wanted)) return *value;
    std::string known;
    for (const std::string& name : forcing_->names()) known += (known.empty() ? "" : ", ") + name;
    throw RequestError(known.empty() ? "this MPI's algorithms for " + collective +
                                           " cannot be selected at run time; leave out " + name_
                                     : "this MPI has no algorithm '" + wanted + "' for " + collective +
                                           " that can be selected; it has: " + known);
  }

  std::string name_;
  Forcing* forcing_;
  const CallTable* calls_ = &pmpi_calls;
  int value_ = 0;
  Forecast forecast_ = Forecast::none;
  std::vector<MPI_Comm> comms_;
};

}  // namespace convene::bench
