// SPDX-License-Identifier: BSD-3-Clause
// Fabric transports without MPI: several endpoints of one process, which a test drives in turn.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/fabric.hpp"
#include "transport/fake_mpi_for_test.hpp"
#include "transport/hybrid_fabric.hpp"

namespace convene::transport {

/// A provider and a protocol.
struct Over {
  using Kind = FabricProtocol::Kind;
  const char* provider;
  FabricProtocol protocol{};

  bool is(Kind kind) const { return protocol.kind == kind; }
  std::string name() const {
    if (is(Kind::notified)) return std::string(provider) + "_notified";
    if (!is(Kind::hybrid)) return provider;
    const bool is_default = protocol.most_tagged == FabricProtocol::default_most_tagged;
    return std::string(provider) + "_hybrid" + (is_default ? "" : "_" + std::to_string(protocol.most_tagged));
  }
};

/// Ranks over a provider and a protocol, each with an endpoint of its own and two channels.
class FabricRanks : public testing::TestWithParam<Over> {
 protected:
  using Kind = Over::Kind;
  static constexpr int procs = 3;

  /// Endpoints that know each other. The tests of a suite share them: opening takes longer than most tests.
  struct Processes {
    std::vector<std::unique_ptr<FabricEndpoint>> endpoints;
    std::array<std::vector<Fabric::Place>, procs> places;
    std::uint32_t channels = 0;
    std::string why_not;

    explicit Processes(const Over& over) {
      for (std::vector<Fabric::Place>& all : places) {
        all.resize(procs);
        endpoints.push_back(FabricEndpoint::open(over.provider, "", why_not, over.protocol.has_puts()));
        if (!endpoints.back()) return;
      }
      for (std::size_t rank = 0; rank < procs; ++rank)
        for (std::size_t peer = 0; peer < procs; ++peer)
          EXPECT_EQ(endpoints[rank]->add_peer(endpoints[peer]->address(), &places[rank][peer].peer), 0);
      meet();
    }

    /// Each sends to each other one before any progress. (Between endpoints of one process, shm of
    /// libfabric 2.5 knows where the memory of a peer is only when the peer's connection request has arrived,
    /// which a peer that has received one before does not send: a longer message of it crashes the receiver.)
    void meet() {
      std::vector<std::pair<std::size_t, Transport::Handle>> handles;
      std::array<Piece, 1> nothing{};
      const auto tag_of = [](std::size_t source) { return ~std::uint64_t{source}; };
      for (std::size_t rank = 0; rank < procs; ++rank)
        for (std::size_t peer = 0; peer < procs; ++peer) {
          if (rank == peer) continue;
          Transport::Handle send = 0, receive = 0;
          ASSERT_EQ(endpoints[rank]->post_send(nothing, places[rank][peer].peer, tag_of(rank), &send), 0);
          ASSERT_EQ(endpoints[rank]->post_receive(nothing, tag_of(peer), &receive), 0);
          handles.insert(handles.end(), {{rank, send}, {rank, receive}});
        }
      while (!handles.empty()) {
        for (auto& endpoint : endpoints) ASSERT_EQ(endpoint->progress(), 0);
        std::erase_if(handles, [&](auto& each) {
          FabricEndpoint::Completion completion{};
          return endpoints[each.first]->finish(&each.second, &completion);
        });
      }
    }
  };

  static std::map<std::string, Processes>& shared() {
    static std::map<std::string, Processes> all;
    return all;
  }
  static void TearDownTestSuite() { shared().clear(); }

  void SetUp() override {
    processes_ = &shared().try_emplace(GetParam().name(), GetParam()).first->second;
    if (!processes_->endpoints.back()) GTEST_SKIP() << processes_->why_not;
    add_communicators();
  }

  void TearDown() override {
    ranks_.clear();
    if (HasFailure() || leaves_operations_)
      shared().erase(GetParam().name());  // the next test gets other ones
  }

  /// Two communicators, with channels that no other one has had.
  void add_communicators() {
    for (std::size_t rank = 0; rank < procs; ++rank)
      for (std::uint32_t communicator = 0; communicator < 2; ++communicator) {
        std::vector<Fabric::Place> places = processes_->places[rank];
        for (std::size_t peer = 0; peer < procs; ++peer)  // rank 1 has set them up in another order
          places[peer].channel = processes_->channels + (peer == 1 ? 1 - communicator : communicator);
        ranks_.push_back(make(static_cast<int>(rank), places));
      }
    processes_->channels += 2;
  }

  std::unique_ptr<Transport> make(int rank, const std::vector<Fabric::Place>& places) {
    auto made = make_fabric(GetParam().protocol, of(rank), places, rank, MPI_COMM_NULL, patience_ns_);
    EXPECT_NE(made, nullptr);
    return made;
  }

  static bool has_links() { return GetParam().protocol.has_puts(); }
  /// Short messages that a rank may send ahead.
  static std::size_t most_ahead() {
    return GetParam().is(Kind::notified) ? FabricLink::most_ahead
                                         : Fabric::credits * Fabric::messages_per_credit;
  }
  /// True if a receive of some bytes takes a message of fewer.
  static bool may_match(std::size_t sent, std::size_t received) {
    const std::size_t limit = GetParam().protocol.most_tagged;
    return !GetParam().is(Kind::hybrid) || (sent <= limit) == (received <= limit);
  }

  FabricEndpoint& of(int rank) { return *processes_->endpoints[static_cast<std::size_t>(rank)]; }
  Transport& rank(int rank, int channel = 0) { return *ranks_[static_cast<std::size_t>(2 * rank + channel)]; }

  void progress_all(int polls) {
    for (int i = 0; i < polls; ++i)
      for (auto& each : ranks_) EXPECT_EQ(each->progress(), 0);
  }

  /// Waits for handles of a rank while all ranks progress. Returns the first error.
  int complete(int owner, std::span<Transport::Handle> handles) {
    constexpr int patience = 2'000'000;
    for (int polls = 0; polls < patience; ++polls) {
      progress_all(1);
      bool are_complete = true;
      for (Transport::Handle& handle : handles) {
        bool is_complete = false;
        if (const int code = rank(owner).test(&handle, &is_complete); code != MPI_SUCCESS) return code;
        are_complete = are_complete && is_complete;
      }
      if (are_complete) return MPI_SUCCESS;
      if (polls % 64 == 0) sched_yield();
    }
    ADD_FAILURE() << "a deadlock";
    return -1;
  }

  /// Credits on their way arrive.
  void expect_nothing_pending() {
    const auto pending = [&] {
      std::size_t sum = 0;
      for (auto& endpoint : processes_->endpoints) sum += endpoint->pending();
      return sum;
    };
    constexpr int patience = 1'000'000;
    for (int polls = 0; polls < patience && pending() > 0; ++polls) progress_all(1);
    EXPECT_EQ(pending(), 0u);
  }

  std::uint64_t patience_ns_ = 60'000'000'000;  // however busy the machine is, answers arrive
  Processes* processes_ = nullptr;
  bool leaves_operations_ = false;
  std::vector<std::unique_ptr<Transport>> ranks_;
};

inline constexpr std::array all_fabrics{
    Over{"tcp", {Over::Kind::tagged}},   Over{"shm", {Over::Kind::tagged}},
    Over{"tcp", {Over::Kind::notified}}, Over{"shm", {Over::Kind::notified}},
    Over{"tcp", {Over::Kind::hybrid}},   Over{"shm", {Over::Kind::hybrid}}};
inline std::string name_of_fabric(const testing::TestParamInfo<Over>& each) { return each.param.name(); }

}  // namespace convene::transport
