// SPDX-License-Identifier: BSD-3-Clause
// Model platform: the channels of a machine, and for each channel the parameters of cost models.
// Times are in seconds, sizes in bytes. docs/models.md describes the file format.
#pragma once

#include <any>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/platform/by_tau.hpp"
#include "model/platform/piecewise.hpp"
#include "schedule/core/schedule.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

/// A channel: the medium through which the ranks of one unit of the level `within`, or all ranks,
/// communicate. It holds at most one parameter set of each type; a cost model defines the type of its
/// parameters.
class ModelChannel {
 public:
  std::string name;
  std::string within;  ///< a level of the machine; empty for the last channel

  template <class P>
  const P* find() const {
    for (const std::any& set : sets_)
      if (const P* found = std::any_cast<P>(&set)) return found;
    return nullptr;
  }
  template <class P>
  P* find() {
    return const_cast<P*>(std::as_const(*this).find<P>());
  }
  /// The channel must have such a set.
  template <class P>
  const P& get() const {
    return *find<P>();
  }
  template <class P>
  P& get() {
    return *find<P>();
  }
  /// Adds a parameter set. The channel must not have one of this type.
  void add(std::any set) { sets_.push_back(std::move(set)); }

 private:
  std::vector<std::any> sets_;
};

/// The first channel between nodes: the one after that of all ranks of a node. Without a channel of all ranks
/// of a node, the last channel; at least 1, so that a platform's only channel is memory.
std::uint32_t network_channel(std::span<const ModelChannel> channels);

struct ModelPlatform {
  std::string name, description, source;
  std::vector<std::string> assumed;    ///< parameters that the source does not state
  std::string machine;                 ///< in the form of Machine::parse(); may be empty
  std::vector<ModelChannel> channels;  ///< the nearest first
  ByTau copy;                          ///< seconds of a copy of this many bytes by each of τ ranks of a node
  std::optional<Piecewise> packing;    ///< p: seconds to pack or unpack this many noncontiguous bytes
  std::optional<ByTau> computation;    ///< γ: seconds to reduce two vectors of this many bytes, on τ ranks

  /// A platform without parameters, for cost expressions: memory within a node, a network between nodes.
  static ModelPlatform two_channels();
};

/// Seconds of a step that is not a message: a copy, or the reduction of two vectors.
double local_cost(const ModelPlatform& platform, StepKind kind, double bytes);
/// γ, on τ ranks of a node at a time. Throws Error if the platform does not have it.
double computation_cost(const ModelPlatform& platform, double bytes, std::uint32_t tau = 1);

/// The channel of two ranks of a mapping: the first whose unit contains both.
class ChannelMap {
 public:
  ChannelMap(std::span<const ModelChannel> channels, const Mapping& mapping);

  std::size_t channels() const { return seats_.size() + 1; }
  std::size_t between(std::uint32_t a, std::uint32_t b) const;
  /// The unit of a channel that contains a rank: ranks of one unit contend in that channel. For channels
  /// between nodes, the rank's node: messages to one node contend there.
  std::uint32_t unit(std::size_t channel, std::uint32_t rank) const;

 private:
  const Mapping& mapping_;
  std::uint32_t network_;  // the first channel between nodes
  // By channel except the last: the number of seats of a unit; 0 if the machine has no such level.
  std::vector<std::uint32_t> seats_;
};

}  // namespace convene::model
