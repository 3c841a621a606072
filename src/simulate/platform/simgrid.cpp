// SPDX-License-Identifier: BSD-3-Clause
#include "simulate/platform/simgrid.hpp"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "simulate/platform/network.hpp"

namespace convene::simulate {
namespace {

constexpr std::size_t most_ranks = 512;
constexpr double unlimited = 1e15;  // bytes per second, in place of infinity

std::string escaped(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '&') result += "&amp;";
    if (letter == '<') result += "&lt;";
    if (letter == '"') result += "&quot;";
    if (letter != '&' && letter != '<' && letter != '"') result += letter;
  }
  return result;
}

class Writer {
 public:
  Writer(const SimulatedPlatform& platform, const Seating& seating)
      : procs_(static_cast<std::uint32_t>(seating.cpu.size())), network_(platform, seating) {
    fmt::format_to(to(text_),
                   "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                   "<platform version=\"4.1\">\n<zone id=\"{}\" routing=\"Full\">\n",
                   escaped(platform.name));
  }

  std::string write() {
    for (std::uint32_t rank = 0; rank < procs_; ++rank)
      fmt::format_to(to(text_), "<host id=\"r{}\" speed=\"1Gf\"/>\n", rank);
    for (std::uint32_t from = 0; from < procs_; ++from)
      for (std::uint32_t other = 0; other < procs_; ++other)
        if (from != other) add_route(from, other);
    return text_ + links_ + routes_ + "</zone>\n</platform>\n";
  }

 private:
  static std::back_insert_iterator<std::string> to(std::string& text) { return std::back_inserter(text); }

  /// Each channel is a link with its latency. The rest of the path is a link without contention, written only
  /// if needed: SimGrid updates all messages of such a link whenever it updates one.
  void add_route(std::uint32_t from, std::uint32_t other) {
    network_.find(from, other, path_);
    fmt::format_to(to(routes_), "<route src=\"r{}\" dst=\"r{}\" symmetrical=\"NO\">", from, other);
    double latency = path_.latency;
    for (unsigned hop = 0; hop < path_.count; ++hop) latency -= network_.latency(path_.channels[hop]);
    if (const bool is_more = latency > 1e-6 * path_.latency;
        is_more || path_.seconds_a_byte > 0 || path_.count == 0)
      fmt::format_to(to(routes_), "<link_ctn id=\"{}\"/>",
                     alone(is_more ? latency : 0, path_.seconds_a_byte));
    for (unsigned hop = 0; hop < path_.count; ++hop)
      fmt::format_to(to(routes_), "<link_ctn id=\"{}\"/>", shared(path_.channels[hop]));
    routes_ += "</route>\n";
  }

  const std::string& shared(ChannelId channel) {
    std::string& id = channels_[channel];
    if (id.empty()) {
      id = escaped(network_.name(channel));
      add_link(id, network_.seconds_a_byte(channel), network_.latency(channel), "SHARED");
    }
    return id;
  }

  /// A link without contention for all paths of this latency and bandwidth.
  const std::string& alone(double latency, double seconds_a_byte) {
    std::string& id = alone_[{latency, seconds_a_byte}];
    if (id.empty()) {
      id = fmt::format("way {}", alone_.size());
      add_link(id, seconds_a_byte, latency, "FATPIPE");
    }
    return id;
  }

  void add_link(const std::string& id, double seconds_a_byte, double latency, const char* policy) {
    const double bandwidth = seconds_a_byte > 0 ? 1 / seconds_a_byte : unlimited;
    fmt::format_to(to(links_),
                   "<link id=\"{}\" bandwidth=\"{:.12g}Bps\" latency=\"{:.12g}s\" sharing_policy=\"{}\"/>\n",
                   id, bandwidth, latency, policy);
  }

  const std::uint32_t procs_;
  const SimulatedNetwork network_;
  Path path_;
  std::string text_, links_, routes_;
  std::map<ChannelId, std::string> channels_;
  std::map<std::pair<double, double>, std::string> alone_;
};

}  // namespace

std::string simgrid_platform(const SimulatedPlatform& platform, const Seating& seating) {
  if (seating.cpu.size() > most_ranks)
    throw Error(fmt::format(
        "a SimGrid platform has a route for each pair of ranks: at most {} ranks, not {}; use fewer ranks",
        most_ranks, seating.cpu.size()));
  return Writer(platform, seating).write();
}

}  // namespace convene::simulate
