// SPDX-License-Identifier: BSD-3-Clause
// Observations: one at a time, by the ranks of its group, while the others are idle.
//
// First the operations that determine the sizes are scouted: an interval of sizes is halved if the time in
// its middle deviates from a straight line between its ends, so that points are dense where a protocol
// changes. Then follow rounds: each takes one observation of every point, so that disturbances of the machine
// affect all of them.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <queue>
#include <set>
#include <vector>

#include "measure_layout.hpp"
#include "measure_operations.hpp"

namespace convene::measure {

struct Effort {
  int rounds = 30, least = 10;  ///< observations of each point, and their minimum when the time is up
  double seconds = 0;           ///< for all rounds together; 0: no limit
  double batch = 200e-6;        ///< target duration of one observation in seconds
  int most_calls = 500;
  std::size_t most_points = 40;  ///< sizes of a channel
  double tolerance = 0.1;        ///< deviation from a straight line above which an interval is halved
};

struct Point {
  std::size_t bytes;
  int calls;
  double delay;
  std::vector<double> seconds;
};

struct Series {
  Operation operation;
  std::vector<Point> points;
};

class Session {
 public:
  Session(Effort effort, Layout& layout, Buffers& buffers)
      : effort_(effort), layout_(layout), buffers_(buffers) {}

  /// Seconds per call, the same on all ranks: of the slowest rank whose clock is used. Collective for all
  /// ranks.
  double observe(const Operation& op, std::size_t bytes, int calls, double delay) {
    double mine = 0, slowest = 0;
    if (op.comm != MPI_COMM_NULL) {
      MPI_Barrier(op.comm);
      MPI_Barrier(op.comm);
      buffers_.expect(bytes * op.spans);
      // Within a node the cache contents left by other operations matter.
      if (layout_.share_a_node(op.ranks)) {
        op.body(op, buffers_, bytes, 1, delay);
        MPI_Barrier(op.comm);
        MPI_Barrier(op.comm);
      }
      mine = op.body(op, buffers_, bytes, calls, delay);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &request);
    rest(request);
    return slowest;
  }

  /// Approximate time of one call: the median of a few observations after a warm-up.
  double scout(const Operation& op, std::size_t bytes) {
    const double first = observe(op, bytes, 2, scouting_delay);
    const int calls = std::clamp(static_cast<int>(effort_.batch / 4 / std::max(first, 1e-9)), 1, 100);
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) times.push_back(observe(op, bytes, calls, op.delay));
    std::nth_element(times.begin(), times.begin() + 2, times.end());
    return times[2];
  }

  /// The sizes that these operations need, ascending: 0, 1, the largest, and between them as many as the
  /// curve needs.
  std::vector<std::size_t> find_sizes(const std::vector<Operation>& operations, std::size_t largest) {
    std::map<std::size_t, std::vector<double>> times;
    const auto look = [&](std::size_t bytes) {
      if (times.contains(bytes)) return;
      for (const Operation& op : operations) times[bytes].push_back(scout(op, bytes));
    };
    std::priority_queue<Interval> intervals;
    const auto add = [&](std::size_t a, std::size_t b) {
      if (middle(a, b) > a) intervals.push({a, b});
    };
    look(0);
    look(1);
    std::size_t before = 1;
    for (std::size_t size = 16; before < largest; size *= 16) {
      const std::size_t next = std::min(size, largest);
      look(next);
      add(before, next);
      before = next;
    }
    while (!intervals.empty() && times.size() < effort_.most_points) {
      const auto [a, b] = intervals.top();
      intervals.pop();
      const std::size_t mid = middle(a, b);
      look(mid);
      if (b / std::max<std::size_t>(a, 1) <= 4 && !is_bent(times, a, mid, b)) continue;
      add(a, mid);
      add(mid, b);
    }
    std::vector<std::size_t> sizes;
    for (const auto& [bytes, unused] : times) sizes.push_back(bytes);
    return sizes;
  }

  void add(Operation op) {
    Series one{.operation = std::move(op), .points = {}};
    for (const std::size_t bytes : one.operation.sizes) one.points.push_back({bytes, 0, 0, {}});
    series_.push_back(std::move(one));
  }

  /// The rounds. Rank 0 reports progress.
  void run() {
    for (Series& one : series_)
      for (Point& point : one.points) prepare(one.operation, point);
    const double start = now();
    for (int round = 0; goes_on(round, start); ++round) {
      report(round, start);
      for (Series& one : series_)
        for (Point& point : one.points)
          point.seconds.push_back(observe(one.operation, point.bytes, point.calls, point.delay));
    }
    report(effort_.rounds, start);
  }

  const std::vector<Series>& series() const { return series_; }

 private:
  static constexpr double scouting_delay = 100e-6;

  struct Interval {
    std::size_t a, b;
    /// The widest first.
    bool operator<(const Interval& other) const {
      return static_cast<double>(b) * static_cast<double>(other.a) <
             static_cast<double>(other.b) * static_cast<double>(a);
    }
  };

  /// A size between two others: a power of two where there is one, else a whole number of cache lines. `a`:
  /// none.
  static std::size_t middle(std::size_t a, std::size_t b) {
    if (b < a + 128 ? b < 2 * a + 2 : b < a + a / 6) return a;
    const double wanted = std::sqrt(static_cast<double>(a) * static_cast<double>(b));
    const auto power = static_cast<std::size_t>(std::exp2(std::round(std::log2(wanted))));
    if (power > a && power < b) return power;
    const std::size_t lines = static_cast<std::size_t>(wanted) / 64 * 64;
    return lines > a ? lines : a;
  }

  bool is_bent(const std::map<std::size_t, std::vector<double>>& times, std::size_t a, std::size_t mid,
               std::size_t b) const {
    const double share = static_cast<double>(mid - a) / static_cast<double>(b - a);
    for (std::size_t op = 0; op < times.at(a).size(); ++op) {
      const double left = times.at(a)[op], right = times.at(b)[op], found = times.at(mid)[op];
      if (std::abs(found - left - share * (right - left)) > effort_.tolerance * found) return true;
    }
    return false;
  }

  void prepare(const Operation& op, Point& point) {
    point.delay = op.delay;
    if (op.name.starts_with("receive")) point.delay = safe_delay(op, point.bytes);
    observe(op, point.bytes, 2, point.delay);  // connections and memory are created here
    const double took = observe(op, point.bytes, 2, point.delay) * op.messages + point.delay;
    point.calls =
        std::clamp(static_cast<int>(std::ceil(effort_.batch / std::max(took, 1e-9))), 1, effort_.most_calls);
  }

  /// A delay after which the messages have arrived before the receive: the time of as many round trips, and a
  /// margin.
  double safe_delay(const Operation& op, std::size_t bytes) {
    Operation trips = op;
    trips.body = round_trip;
    return 2 * op.messages * scout(trips, bytes) + 20e-6;
  }

  bool goes_on(int round, double start) const {
    int on = round < effort_.rounds;
    if (on && effort_.seconds > 0 && round >= effort_.least) {
      on = now() - start < effort_.seconds;
      MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);  // rank 0's clock decides
    }
    return on != 0;
  }

  void report(int round, double start) const {
    if (layout_.rank() != 0) return;
    const double by_time = effort_.seconds > 0 ? (now() - start) / effort_.seconds : 0;
    const int done = std::max(round, static_cast<int>(std::min(by_time, 0.99) * effort_.rounds));
    std::printf("progress %d %d\n", done, effort_.rounds);
    std::fflush(stdout);
  }

  Effort effort_;
  Layout& layout_;
  Buffers& buffers_;
  std::vector<Series> series_;
};

}  // namespace convene::measure
