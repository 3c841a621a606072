// SPDX-License-Identifier: BSD-3-Clause
// MPI point-to-point as a transport, over an MPI in one process; this thread acts as every rank in turn.
#include "transport/point_to_point.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "transport/fake_mpi_for_test.hpp"

namespace convene::transport {
namespace {

/// Predefined handles may be objects of the MPI's library: it must be loaded, although none of its functions
/// is called.
[[gnu::used]] int (*const needs_the_library)(int*) = MPI_Initialized;

struct Ranks {
  FakeMpi fake;
  PointToPoint transport{MPI_COMM_NULL};

  explicit Ranks(const FakeMpi::Options& options = {}) : fake(2, options) {}
  const PointToPoint& of(int rank) {
    fake.enter(rank);
    return transport;
  }
};

TEST(PointToPoint, DeliversAndReportsCompletion) {
  Ranks ranks;
  int out = 42, in = 0;
  PointToPoint::Handle sent = ranks.transport.none(), received = ranks.transport.none();
  ASSERT_EQ(ranks.of(1).post_receive(&in, sizeof in, 0, 5, &received), MPI_SUCCESS);
  bool is_complete = true;
  EXPECT_EQ(ranks.of(1).test(&received, &is_complete), MPI_SUCCESS);
  EXPECT_FALSE(is_complete);
  ASSERT_EQ(ranks.of(0).post_send(&out, sizeof out, 1, 5, &sent), MPI_SUCCESS);
  EXPECT_EQ(ranks.of(0).wait_all(&sent, 1), MPI_SUCCESS);
  EXPECT_EQ(ranks.of(1).wait(&received), MPI_SUCCESS);
  EXPECT_EQ(in, 42);
  EXPECT_EQ(sent, ranks.transport.none());
  EXPECT_EQ(ranks.fake.left_over(), 0u);
}

TEST(PointToPoint, SendsPiecesByADatatype) {
  Ranks ranks;
  std::array<int, 8> out, in = {};
  std::iota(out.begin(), out.end(), 1);
  const auto piece = [](int* at, std::size_t count) {
    return Piece{reinterpret_cast<std::byte*>(at), count * sizeof(int)};
  };
  const Piece from[] = {piece(&out[6], 2), piece(&out[0], 1)}, to[] = {piece(&in[1], 1), piece(&in[4], 2)};
  PointToPoint::Handle sent, received;
  Arena arena;
  ASSERT_EQ(ranks.of(0).post_send_pieces(from, 1, 0, arena, &sent), MPI_SUCCESS);
  ASSERT_EQ(ranks.of(1).post_receive_pieces(to, 0, 0, arena, &received), MPI_SUCCESS);
  EXPECT_EQ(ranks.of(0).wait(&sent), MPI_SUCCESS);
  EXPECT_EQ(ranks.of(1).wait(&received), MPI_SUCCESS);
  EXPECT_EQ(in, (std::array<int, 8>{0, 7, 0, 0, 8, 1, 0, 0}));
  EXPECT_EQ(ranks.fake.left_over(), 0u);  // the datatypes are freed
}

/// The result of MPI_Waitsome if one of three messages failed.
int failing_waitsome(int count, MPI_Request*, int* found, int*, MPI_Status* statuses) {
  *found = count;
  statuses[0].MPI_ERROR = MPI_SUCCESS;
  statuses[1].MPI_ERROR = MPI_ERR_TRUNCATE;
  statuses[2].MPI_ERROR = MPI_ERR_PENDING;
  return MPI_ERR_IN_STATUS;
}
int failed_waitsome(int, MPI_Request*, int*, int*, MPI_Status*) { return MPI_ERR_OTHER; }

TEST(PointToPoint, ReturnsTheErrorOfAMessage) {
  Ranks ranks;
  PointToPoint::Handle handles[3] = {};
  int found = 0, completed[3];
  MPI_Status statuses[3];
  PointToPoint::prepare(statuses, 3);
  pmpi.Waitsome = failed_waitsome;
  EXPECT_EQ(ranks.transport.wait_some(handles, 3, &found, completed, statuses), MPI_ERR_OTHER);
  pmpi.Waitsome = failing_waitsome;
  EXPECT_EQ(ranks.transport.wait_some(handles, 3, &found, completed, statuses), MPI_ERR_TRUNCATE);
}

TEST(PointToPoint, AbandonsHandles) {
  Ranks ranks;
  int in[2];
  PointToPoint::Handle handles[3] = {ranks.transport.none(), ranks.transport.none(), ranks.transport.none()};
  ASSERT_EQ(ranks.of(0).post_receive(&in[0], 4, 1, 0, &handles[0]), MPI_SUCCESS);
  ASSERT_EQ(ranks.of(0).post_receive(&in[1], 4, 1, 1, &handles[2]), MPI_SUCCESS);
  ranks.of(0).abandon(handles, 3);
  for (const auto& handle : handles) EXPECT_EQ(handle, ranks.transport.none());
  EXPECT_EQ(ranks.fake.open_requests(), 0u);
}

TEST(PointToPoint, NeedsNoRegistration) {
  static_assert(!PointToPoint::capabilities().needs_registration);
  static_assert(PointToPoint::capabilities().shared_memory);
  EXPECT_EQ(PointToPoint::capabilities().pack_below, mpi::stack::pack_below);
}

}  // namespace
}  // namespace convene::transport
