// SPDX-License-Identifier: BSD-3-Clause
// What the models know of a machine: channels, and for each channel the parameters of each model that has some.
// Times are in seconds, sizes in bytes. The form of the file is described in docs/models.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/platform/piecewise.hpp"
#include "model/taulop/cost_expression.hpp"
#include "topology/mapping.hpp"

namespace convene::model {

/// T(m) = alpha + beta·m.
struct Hockney {
  double alpha = 0, beta = 0;
};

/// LogP, LogGP and LogGPS in one: LogP leaves out G; LogGPS adds the threshold from which a sender first asks.
/// Alexandrov et al. 1997; Ino, Fujimoto, Hagihara 2001. One set for each channel is LogGPH (Yuan et al.).
struct LogGP {
  double L = 0, send_overhead = 0, recv_overhead = 0, g = 0, G = 0;
  std::optional<double> synchronous_from;  ///< bytes: LogGPS' S
};

/// Hoefler, Mehlan, Mietke, Rehm 2006. The overheads are functions of the number of messages in a burst; `free`
/// messages of a burst need no gap.
struct LogfP {
  double L = 0, g = 0;
  std::uint32_t free = 0;
  Piecewise send_overhead, recv_overhead;
};

/// Kielmann, Bal, Verstoep 2000: latency from end to end; overheads and gap are functions of the size.
struct PLogP {
  double L = 0;
  Piecewise send_overhead, recv_overhead, gap;
};

/// log_nP and mlog_nP (Cameron et al. 2007; Tu et al. 2012): the costs of the transfers of a message, in order. The
/// first is the sender's work, the last the receiver's.
struct LogNP {
  std::vector<Piecewise> transfers;
};

/// Functions of the size for those τ that are known: how long something takes beside τ − 1 others of its kind.
using ByTau = std::map<std::uint32_t, Piecewise>;

/// The value for any τ. Between two τ of the table on the straight line; beyond the last on the line through 1 and the
/// last, so that it never leaves f(m, 1) ≤ f(m, τ) ≤ τ·f(m, 1) where the table does not. 0 for an empty table.
double at(const ByTau& table, double bytes, std::uint32_t tau);

/// τ-Lop: o(m), and L(m, τ) for those τ that were measured. (The source has one L. L_sr and L_c are this project's: two ranks
/// that send to each other share a connection; and how an MPI moves a message says little about a copy from another's memory.)
struct TauLop {
  Piecewise overhead;
  ByTau transfer;
  ByTau exchange;         ///< of a network, L_sr(m, τ); may be empty
  ByTau shared;           ///< of memory, L_c(m, τ); may be empty
  std::string transport;  ///< how messages travel: copy_in_copy_out, …; may be empty
  double segment = 0;     ///< bytes of a segment, for the transport "segments"

  bool tells_apart(Sort sort) const {
    return sort == Sort::message || !(sort == Sort::exchange ? exchange : shared).empty();
  }
  double L(double bytes, std::uint32_t tau, Sort sort = Sort::message) const {
    if (sort == Sort::message || !tells_apart(sort)) return at(transfer, bytes, tau);
    return at(sort == Sort::exchange ? exchange : shared, bytes, tau);
  }
};

/// A way by which ranks reach each other: all ranks that share a unit of the level `within`, or all of the machine.
struct Channel {
  std::string name;
  std::string within;  ///< a level of the machine; empty for the last channel
  std::optional<Hockney> hockney;
  std::optional<LogGP> loggp;
  std::optional<LogfP> logfp;
  std::optional<PLogP> plogp;
  std::optional<LogNP> lognp;
  std::optional<TauLop> taulop;
};

/// The first channel between nodes: the one behind that of all ranks of a node. Where there is none for all ranks of a node,
/// the last channel; at least 1, so that a platform's only channel is memory.
std::uint32_t network_channel(std::span<const Channel> channels);

struct Platform {
  std::string name, description, source;
  std::vector<std::string> assumed;  ///< what the source does not say
  std::string machine;               ///< as Machine::parse() reads it; may be empty
  std::vector<Channel> channels;     ///< the nearest first
  ByTau copy;                        ///< seconds for a copy of so many bytes, which τ ranks of a node make
  std::optional<Piecewise>
      packing;  ///< p: seconds to pack or unpack so many bytes that do not lie in one piece
  std::optional<ByTau> computation;  ///< γ: seconds to reduce two vectors of so many bytes, likewise

  /// A platform of which only this is known: memory within a node, a network between them. For cost expressions,
  /// which need no numbers.
  static Platform two_channels();
};

/// Which channel two ranks of a mapping use: the first whose unit holds both.
class ChannelMap {
 public:
  ChannelMap(std::span<const Channel> channels, const Mapping& mapping);

  std::size_t channels() const { return seats_.size() + 1; }
  std::size_t between(std::uint32_t a, std::uint32_t b) const;
  /// The unit of a channel in which a rank sits: ranks of one unit contend in that channel. For channels between nodes, the
  /// rank's node: there, messages contend that come to the same node.
  std::uint32_t unit(std::size_t channel, std::uint32_t rank) const;

 private:
  const Mapping& mapping_;
  std::uint32_t network_;  // the first channel between nodes
  std::vector<std::uint32_t>
      seats_;  // by channel but the last: seats of a unit; 0 where the machine has no such level
};

/// Reads a platform from JSON. `origin` stands before the complaints: "FILE: field model.channels[0].loggp.L …".
/// Throws Error.
Platform parse_platform(std::string_view json, std::string_view origin);
Platform load_platform(const std::string& path);

}  // namespace convene::model
