// SPDX-License-Identifier: BSD-3-Clause
// Measurement of the parameters of models for a machine and its MPI: messages, copies and reductions, alone
// and concurrent. Writes every observation as JSON; `convene measure` starts it and fits the parameters. Exit
// status: 0 done, 1 failed, 2 an invalid request.
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench_environment.hpp"
#include "convene/convene.h"
#include "measure_layout.hpp"
#include "measure_operations.hpp"
#include "measure_protocol.hpp"
#include "measure_session.hpp"
#include "result_output.hpp"

namespace convene::measure {
namespace {

using nlohmann::json;

struct Options {
  Effort effort;
  std::size_t largest = 4 << 20, largest_burst = 64 << 10;
  int burst = 16;
  std::size_t walked = 0;
  std::vector<int> node_of;
  std::vector<std::string> collectives;
  std::vector<std::size_t> collective_sizes;
  bool only_collectives = false;
  std::string output;
  bool returns = false;
};

void declare(Options& options, CLI::App& app) {
  Effort& effort = options.effort;
  app.add_option("--rounds", effort.rounds, "Observations of each point")->check(CLI::Range(2, 1'000'000));
  app.add_option("--seconds", effort.seconds, "Stop after this time, but not before --least rounds")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--least", effort.least)->check(CLI::Range(1, 1'000'000));
  app.add_option("--batch", effort.batch, "Duration of one observation in seconds")
      ->check(CLI::PositiveNumber);
  app.add_option("--most-points", effort.most_points, "Maximum number of sizes of a channel")
      ->check(CLI::Range(4, 1000));
  app.add_option("--largest", options.largest, "Bytes of the largest message")
      ->check(CLI::Range(std::size_t{64}, std::size_t{1} << 30));
  app.add_option("--largest-burst", options.largest_burst,
                 "Bytes of the largest message that is sent in bursts");
  app.add_option("--burst", options.burst, "Messages of a burst")->check(CLI::Range(2, 1000));
  app.add_option("--out-of-cache", options.walked,
                 "Cycle through this many bytes of buffers; 0: always the same buffers");
  app.add_option("--node-of", options.node_of, "For tests: the node of each rank")->delimiter(',');
  app.add_option("--collectives", options.collectives,
                 "Also measure these algorithms, with a number of ranks, as in 2:bcast=binomial");
  app.add_option("--collective-sizes", options.collective_sizes, "Sizes of these algorithms in bytes")
      ->delimiter(',');
  app.add_flag("--only-collectives", options.only_collectives, "Measure these algorithms only");
  app.add_option("-o,--output", options.output, "JSON output of rank 0");
  app.add_flag("--return", options.returns,
               "Print the output as lines if the file does not exist on rank 0's node");
}

std::vector<std::size_t> up_to(const std::vector<std::size_t>& sizes, std::size_t least,
                               std::size_t largest) {
  std::vector<std::size_t> found;
  for (const std::size_t size : sizes)
    if (size >= least && size <= largest) found.push_back(size);
  return found;
}

/// 2, 3, 4, 6, 8, 12, … and the last.
std::vector<int> taus_up_to(int last) {
  std::vector<int> taus;
  for (int tau = 2; tau < last; tau *= 2) {
    taus.push_back(tau);
    if (tau * 3 / 2 < last && tau * 3 % 2 == 0) taus.push_back(tau * 3 / 2);
  }
  if (last >= 2) taus.push_back(last);
  return taus;
}

class Measurement {
 public:
  Measurement(const Options& options, Layout& layout, Buffers& buffers)
      : options_(options), layout_(layout), buffers_(buffers), session_(options.effort, layout, buffers) {}

  json run() {
    if (!options_.only_collectives) {
      const std::vector<int> near = layout_.largest_node(), far = layout_.second_node();
      if (near.size() >= 2) add_memory(near);
      if (!far.empty()) add_network(near, far);
      add_local(near);
    }
    add_collectives();
    session_.run();
    json result = {{"protocols", protocols_}, {"series", json::array()}};
    for (const Series& one : session_.series()) result["series"].push_back(as_json(one));
    return result;
  }

 private:
  using Body = decltype(Operation::body);

  Operation make(std::string name, std::string channel, std::vector<int> ranks, Body body,
                 std::vector<std::size_t> sizes = {}) {
    Operation op;
    op.name = std::move(name);
    op.channel = std::move(channel);
    op.comm = layout_.group(ranks);
    op.ranks = std::move(ranks);
    op.body = std::move(body);
    op.sizes = std::move(sizes);
    return op;
  }

  static std::vector<int> first(const std::vector<int>& ranks, int count) {
    return {ranks.begin(), ranks.begin() + count};
  }

  Operation make_ring(const std::vector<int>& ranks, int tau) {
    Operation op = make("ring", "memory", first(ranks, tau), ring);
    op.tau = tau;
    return op;
  }

  /// `body` is cross or exchange.
  Operation make_pairs(const std::string& name, const std::vector<int>& near, const std::vector<int>& far,
                       int tau, const Body& body) {
    std::vector<int> ranks = first(near, tau);
    ranks.insert(ranks.end(), far.begin(), far.begin() + tau);
    Operation op = make(name, "network", ranks, body);
    op.tau = tau;
    return op;
  }

  void add_memory(const std::vector<int>& near) {
    const std::vector<int> pair = first(near, 2);
    const auto sizes = session_.find_sizes(
        {make("round_trip", "memory", pair, round_trip), make_ring(near, 2)}, options_.largest);
    for (const int tau : taus_up_to(static_cast<int>(near.size()))) {
      Operation op = make_ring(near, tau);
      op.sizes = sizes;
      session_.add(std::move(op));
    }
    add_pair("memory", pair, sizes);
    add_shared(near, up_to(sizes, 8, std::min(options_.largest, most_shared) / shared_pieces));
  }

  static constexpr std::size_t most_shared = 16 << 20;  // the limit of shared memory may be low
  static constexpr std::size_t shared_pieces = 4;       // the default number of segments of most algorithms

  void add_shared(const std::vector<int>& near, const std::vector<std::size_t>& sizes) {
    const MPI_Comm comm = layout_.group(near);
    if (comm != MPI_COMM_NULL) region_.emplace(comm, most_shared);
    int is_there = !region_ || region_->begin(), is_everywhere = 0;
    MPI_Allreduce(&is_there, &is_everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!is_everywhere) return;
    std::vector<int> taus = taus_up_to(static_cast<int>(near.size()) - 1);
    taus.insert(taus.begin(), 1);
    for (const int tau : taus) {
      Operation op = make("shared", "memory", first(near, tau + 1), shared, sizes);
      op.tau = tau;
      op.spans = shared_pieces;
      op.shared = region_ ? region_->begin() : nullptr;
      session_.add(std::move(op));
    }
  }

  void add_network(const std::vector<int>& near, const std::vector<int>& far) {
    const std::vector<int> pair = {near.front(), far.front()};
    const auto sizes =
        session_.find_sizes({make("round_trip", "network", pair, round_trip)}, options_.largest);
    const auto add = [&](const std::string& name, int tau, const Body& body) {
      Operation op = make_pairs(name, near, far, tau, body);
      op.sizes = sizes;
      session_.add(std::move(op));
    };
    add("exchange", 1, exchange);
    for (const int tau : taus_up_to(static_cast<int>(std::min(near.size(), far.size())))) {
      add("cross", tau, cross);
      add("exchange", tau, exchange);
    }
    add_pair("network", pair, sizes);
  }

  /// Measurements between two ranks, for any channel.
  void add_pair(const std::string& channel, const std::vector<int>& pair,
                const std::vector<std::size_t>& sizes) {
    session_.add(make("round_trip", channel, pair, round_trip, sizes));
    session_.add(make("synchronous", channel, pair, synchronous, {0}));
    session_.add(make("send", channel, pair, sends, sizes));
    session_.add(make("receive", channel, pair, receives, sizes));
    const auto small = up_to(sizes, 1, options_.largest_burst);
    add_burst(channel, pair, small, options_.burst, 0);
    // Overhead: with pauses longer than a round trip of this size.
    const double pause = 2 * session_.scout(make("round_trip", channel, pair, round_trip), 1) + 2e-6;
    add_burst(channel, pair, {1}, options_.burst, pause);
    for (const int messages : {1, 2, 3, 4, 6, 8, 12, 24, 32}) {
      add_burst(channel, pair, {1}, messages, 0);
      for (const auto& [name, body] :
           {std::pair("sends", Body(sends)), std::pair("receives", Body(receives))}) {
        Operation op = make(name, channel, pair, body, {1});
        op.messages = messages;
        session_.add(std::move(op));
      }
    }
    const auto waits = ProtocolSearch(layout_.group(pair), buffers_).run(options_.largest);
    protocols_[channel] = waits ? json(*waits) : json();
  }

  void add_burst(const std::string& channel, const std::vector<int>& pair,
                 const std::vector<std::size_t>& sizes, int messages, double delay) {
    Operation op = make("burst", channel, pair, burst, sizes);
    op.messages = messages;
    op.delay = delay;
    session_.add(std::move(op));
  }

  /// Copies and reductions, on one rank and on several of its node at the same time.
  void add_local(const std::vector<int>& near) {
    const auto found = session_.find_sizes({make("copy", "local", first(near, 1), copy)}, options_.largest);
    const auto sizes = up_to(found, 8, options_.largest);
    std::vector<int> taus = taus_up_to(static_cast<int>(near.size()));
    taus.insert(taus.begin(), 1);
    for (const int tau : taus)
      for (const auto& [name, body] : {std::pair("copy", Body(copy)), std::pair("combine", Body(combine))}) {
        Operation op = make(name, "local", first(near, tau), body, sizes);
        op.tau = tau;
        session_.add(std::move(op));
      }
    Operation pack = make("packing", "local", first(near, 1), packing, up_to(sizes, 8, options_.largest / 2));
    pack.spans = 2;
    session_.add(std::move(pack));
  }

  /// "4:bcast=binomial": the first 4 ranks. (The caller ensures that the algorithm can run on them.)
  void add_collectives() {
    for (const std::string& wanted : options_.collectives) {
      const int procs = std::atoi(wanted.c_str());
      const std::size_t colon = wanted.find(':');
      if (procs < 1 || procs > layout_.procs() || colon == std::string::npos)
        throw RequestError("--collectives " + wanted + " must begin with a number of ranks, 1 to " +
                           std::to_string(layout_.procs()) + ", and a colon");
      std::vector<int> ranks(static_cast<std::size_t>(procs));
      std::iota(ranks.begin(), ranks.end(), 0);
      Operation op = make("collective", "all", ranks, collective, options_.collective_sizes);
      op.algorithm = wanted.substr(colon + 1);
      op.tau = procs;
      op.spans = op.ranks.size();
      int refused = 0, any = 0;
      if (op.comm != MPI_COMM_NULL) {
        MPI_Comm_dup(op.comm, &op.comm);  // every choice of an algorithm has its own communicator
        refused = convene_use(op.comm, op.algorithm.c_str()) != MPI_SUCCESS;
      }
      MPI_Allreduce(&refused, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (any) throw RequestError("--collectives " + wanted + " names no algorithm of Convene");
      session_.add(std::move(op));
    }
  }

  static json as_json(const Series& one) {
    json points = json::array();
    for (const Point& point : one.points)
      points.push_back({{"bytes", point.bytes},
                        {"calls", point.calls},
                        {"delay", point.delay},
                        {"seconds", point.seconds}});
    const Operation& op = one.operation;
    return {{"operation", op.name},    {"channel", op.channel},     {"tau", op.tau},
            {"messages", op.messages}, {"algorithm", op.algorithm}, {"points", points}};
  }

  const Options& options_;
  Layout& layout_;
  Buffers& buffers_;
  Session session_;
  std::optional<SharedRegion> region_;
  json protocols_ = json::object();
};

/// Maximum number of bytes of the operations: an alltoall has a block for every rank.
std::size_t needed(const Options& options, int procs) {
  std::size_t most = options.largest;
  for (const std::size_t size : options.collective_sizes)
    most = std::max(most, size * static_cast<std::size_t>(procs));
  if (most > std::size_t{INT32_MAX})
    throw RequestError("messages of all ranks exceed 2 GiB; use smaller messages");
  return most;
}

json measure(const Options& options, int procs) {
  if (procs < 2) throw RequestError("measuring a message needs at least 2 ranks; give -n 2 or more");
  Layout layout(options.node_of);
  Buffers buffers(needed(options, procs), options.walked);
  json result = {{"format", 1},
                 {"procs", procs},
                 {"stack", CONVENE_STACK_NAME},
                 {"convene", convene_version()},
                 {"nodes", layout.nodes()},
                 {"environment", bench::environment(procs)}};
  const json found = Measurement(options, layout, buffers).run();
  result.update(found);
  layout.free();
  return result;
}

void write(const json& result, const Options& options) {
  const int error = bench::ResultOutput(options.output, options.returns).write(result.dump() + '\n');
  if (error) throw RequestError(bench::ResultOutput::sentence(options.output, error));
}

/// The same sentence on all ranks: one rank prints it.
int complain(int rank, const char* sentence, int status) {
  if (rank == 0) std::fprintf(stderr, "convene-measure: %s\n", sentence);
  return status;
}

int run(int argc, char** argv, int procs, int rank) {
  Options options;
  CLI::App app("Measures the parameters of communication models");
  declare(options, app);
  try {
    app.parse(argc, argv);
    const json result = measure(options, procs);
    if (rank == 0) write(result, options);
    return 0;
  } catch (const CLI::CallForHelp& help) {
    return rank == 0 ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    return complain(rank, error.what(), 2);
  } catch (const RequestError& error) {
    return complain(rank, error.what(), 2);
  } catch (const std::exception& error) {
    return complain(rank, error.what(), 1);
  }
}

}  // namespace
}  // namespace convene::measure

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int procs = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int status = convene::measure::run(argc, argv, procs, rank);
  MPI_Finalize();
  return status;
}
