// SPDX-License-Identifier: BSD-3-Clause
// convene-cluster-switch: connects the nodes of an emulated cluster, which are network namespaces, by a
// switch with a delay. Every node gets a TAP device `eth0`; frames that a node sends are read here, delayed
// as by a wire and a switch, and written to the device of their destination.
//
// A frame leaves its sender's interface at the link's rate, one after the other; it reaches the receiver's
// link after the one-way delay, and is carried there at the same rate, again one after the other. If that
// link is idle, the two transmissions overlap (cut-through). A receiver's queue is finite: excess frames are
// dropped, as in a switch.
//
// `convene cluster up` starts it if a delay is requested: not every kernel has a shaper (netem) for this.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using Nanoseconds = std::int64_t;

constexpr std::size_t largest_frame = 1536;  // an MTU of 1500 with its headers
constexpr std::size_t queue_length = 2048;   // frames: 3 MB a port, about what small switches have
constexpr int wire_overhead = 24;            // bytes a frame: preamble, checksum and gap
constexpr int burst = 32;                    // frames read from one node before the next one is served
constexpr Nanoseconds idle = 1'000'000'000;

struct Options {
  std::vector<int> nodes;  // process ids: one inside each node
  double rate = 0;         // bits per second; 0: unlimited
  double delay = 0;        // seconds, one way
  int groups = 1;
  bool has_launching_machine = false;  // the last one is not a node, and in the last group
  double group_delay = 0;              // additional seconds between groups
};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

Nanoseconds now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A locally administered address whose last byte is the node's number.
std::array<std::uint8_t, 6> address_of(std::size_t node) {
  return {2, 0, 0, 0, 0, static_cast<std::uint8_t>(node)};
}

/// Creates `eth0` in the network of the process, and returns this end of it.
int open_device(int process, std::size_t node) {
  const std::string space = fmt::format("/proc/{}/ns/net", process);
  const int net = open(space.c_str(), O_RDONLY | O_CLOEXEC);
  if (net < 0 || setns(net, CLONE_NEWNET) != 0) fail("entering " + space);
  close(net);
  const int device = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (device < 0) fail("opening /dev/net/tun");
  ifreq request{};
  std::strcpy(request.ifr_name, "eth0");
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(device, TUNSETIFF, &request) != 0) fail("creating a TAP device");
  const int any_socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  request.ifr_hwaddr.sa_family = 1;  // Ethernet
  const auto address = address_of(node);
  std::copy(address.begin(), address.end(), request.ifr_hwaddr.sa_data);
  if (ioctl(any_socket, SIOCSIFHWADDR, &request) != 0) fail("setting the address of the TAP device");
  close(any_socket);
  return device;
}

struct Frame {
  std::size_t size = 0;
  std::array<std::uint8_t, largest_frame> bytes;
};

/// A node's link in both directions, and the frames in flight to the node.
class Port {
 public:
  explicit Port(int device) : device_(device), frames_(queue_length) {
    for (std::size_t place = 0; place < queue_length; ++place) unused_.push_back(place);
  }

  int device() const { return device_; }

  /// Time when the node's interface has sent a frame of this duration.
  Nanoseconds send(Nanoseconds at, Nanoseconds duration) {
    sent_ = std::max(sent_, at) + duration;
    return sent_;
  }

  /// Queues a frame whose end reaches this link at that time, and which the link carries for this duration.
  void accept(const Frame& frame, Nanoseconds at, Nanoseconds duration) {
    if (unused_.empty()) return;
    const std::size_t place = unused_.back();
    unused_.pop_back();
    frames_[place].size = frame.size;
    std::copy_n(frame.bytes.begin(), frame.size, frames_[place].bytes.begin());
    coming_.push({at, number_++, duration, place});
  }

  /// Delivers due frames; returns when the next one is due. (Frames from remote groups may be overtaken.)
  Nanoseconds deliver(Nanoseconds time) {
    while (!coming_.empty()) {
      const Coming& first = coming_.top();
      const Nanoseconds due = std::max(first.at, received_ + first.duration);
      if (due > time) return due;
      received_ = due;
      // A node whose interface is down receives nothing: its frames are dropped.
      const Frame& frame = frames_[first.place];
      [[maybe_unused]] const ssize_t written = write(device_, frame.bytes.data(), frame.size);
      unused_.push_back(first.place);
      coming_.pop();
    }
    return time + idle;
  }

 private:
  struct Coming {
    Nanoseconds at;
    std::uint64_t number;
    Nanoseconds duration;
    std::size_t place;
    bool operator>(const Coming& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  int device_;
  std::vector<Frame> frames_;
  std::vector<std::size_t> unused_;
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
  std::uint64_t number_ = 0;
  Nanoseconds sent_ = 0, received_ = 0;
};

class Switch {
 public:
  explicit Switch(const Options& options) : options_(options) {
    for (std::size_t node = 0; node < options.nodes.size(); ++node) {
      ports_.emplace_back(open_device(options.nodes[node], node));
      polled_.push_back({.fd = ports_.back().device(), .events = POLLIN, .revents = 0});
    }
  }

  [[noreturn]] void run() {
    while (true) {
      Nanoseconds next = deliver_due();
      bool moved = false;
      for (std::size_t node = 0; node < ports_.size(); ++node) moved |= read_from(node);
      if (moved) continue;
      next = std::clamp<Nanoseconds>(next - now(), 0, idle);
      const timespec wait{.tv_sec = next / 1'000'000'000, .tv_nsec = next % 1'000'000'000};
      ppoll(polled_.data(), polled_.size(), &wait, nullptr);
    }
  }

 private:
  /// Returns when the next frame is due.
  Nanoseconds deliver_due() {
    Nanoseconds next = now() + idle;
    for (Port& port : ports_) next = std::min(next, port.deliver(now()));
    return next;
  }

  bool read_from(std::size_t node) {
    for (int count = 0; count < burst; ++count) {
      const ssize_t size = read(ports_[node].device(), frame_.bytes.data(), frame_.bytes.size());
      if (size <= 0) return count > 0;
      frame_.size = static_cast<std::size_t>(size);
      pass_on(node);
    }
    return true;
  }

  void pass_on(std::size_t from) {
    const Nanoseconds duration =
        options_.rate > 0
            ? static_cast<Nanoseconds>(static_cast<double>(frame_.size + wire_overhead) * 8e9 / options_.rate)
            : 0;
    const Nanoseconds left = ports_[from].send(now(), duration);
    for (std::size_t to = 0; to < ports_.size(); ++to)
      if (to != from && is_for(to)) ports_[to].accept(frame_, left + delay(from, to), duration);
  }

  /// An address of none of the nodes is a broadcast.
  bool is_for(std::size_t node) const {
    if (std::equal(frame_.bytes.begin(), frame_.bytes.begin() + 5, address_of(0).begin()))
      return frame_.bytes[5] == node;
    return true;
  }

  Nanoseconds delay(std::size_t from, std::size_t to) const {
    const bool apart = group_of(from) != group_of(to);
    return static_cast<Nanoseconds>(1e9 * (options_.delay + (apart ? options_.group_delay : 0)));
  }

  std::size_t group_of(std::size_t node) const {
    const std::size_t nodes = ports_.size() - (options_.has_launching_machine ? 1 : 0);
    return std::min(node, nodes - 1) * static_cast<std::size_t>(options_.groups) / nodes;
  }

  const Options options_;
  std::vector<Port> ports_;
  std::vector<pollfd> polled_;
  Frame frame_;
};

/// Requests real-time priority, if the system allows it: frames should leave when they are due, under any
/// load.
void ask_for_priority() {
  const sched_param parameter{.sched_priority = 10};
  const bool refused = sched_setscheduler(0, SCHED_FIFO, &parameter) != 0;
  std::puts(refused ? "ready, without real-time priority; delays may be longer" : "ready");
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  Options options;
  CLI::App app("Connects network namespaces by a switch with a delay; `convene cluster up` starts it.");
  app.add_option("nodes", options.nodes, "Process id of a process inside each node")
      ->required()
      ->expected(2, 250);
  app.add_option("--rate", options.rate, "Rate of every node's link in bits per second; 0: no limit");
  app.add_option("--delay", options.delay, "One-way delay in seconds");
  app.add_option("--groups", options.groups, "Number of groups of nodes")->check(CLI::PositiveNumber);
  app.add_flag("--launching", options.has_launching_machine, "The last node is a launching machine");
  app.add_option("--group-delay", options.group_delay, "Additional delay between groups in seconds");
  CLI11_PARSE(app, count, words);
  try {
    Switch nodes(options);
    ask_for_priority();
    nodes.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
