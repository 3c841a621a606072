// SPDX-License-Identifier: BSD-3-Clause
#include "model/taulop/shared_memory_cost.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "base/error.hpp"
#include "model/taulop/cost_comparison.hpp"
#include "model/taulop/cost_evaluation.hpp"
#include "model/taulop/cost_simplification.hpp"
#include "model/taulop/cost_text.hpp"
#include "model/taulop/taulop_parameters.hpp"

namespace convene::model {
namespace {

using testing::ElementsAre;

TEST(SharedMemory, TheBroadcastsPipeline) {  // figure 4.22, whose eleventh stage is empty
  EXPECT_THAT(shared_broadcast_stages(8, 2, 4), ElementsAre(1, 2, 4, 7, 4, 7, 4, 7, 3, 5));
  EXPECT_EQ(to_text(simplify(shared_broadcast(8, 2, 4)), {.channels = false}),
            "L(S, 1) + L(S, 2) + 3L(S, 4) + 3L(S, 7) + L(S, 3) + L(S, 5)");
}

TEST(SharedMemory,
     TheBodyOfAFullTree) {  // Θ_B0 and Θ_B1 with the levels that have children and those that have parents
  // P = 7: levels of 1, 2, 4; the last one has no children.
  EXPECT_THAT(shared_broadcast_stages(7, 2, 4), ElementsAre(1, 2, 7, 2, 7, 2, 7, 2, 6));
  EXPECT_THAT(shared_broadcast_stages(4, 3, 2), ElementsAre(1, 3, 1, 3));
}

TEST(SharedMemory, EverySegmentComesToEveryProcess) {
  for (std::uint32_t procs : {1u, 2u, 3u, 5u, 8u, 13u, 16u, 31u, 64u, 100u})
    for (std::uint32_t degree : {1u, 2u, 3u, 7u})
      for (std::uint32_t segments : {1u, 2u, 5u}) {
        const auto stages = shared_broadcast_stages(procs, degree, segments);
        const std::uint64_t parents = procs == 1 ? 0 : (procs - 2) / degree + 1;
        EXPECT_EQ(std::accumulate(stages.begin(), stages.end(), std::uint64_t{0}),
                  segments * (procs - 1 + parents));
      }
}

TEST(SharedMemory, TheTreesHeight) {
  for (std::uint32_t procs = 1; procs < 200; ++procs)
    for (std::uint32_t degree : {2u, 3u, 4u}) {
      const double exact = std::log((degree - 1.0) * procs + 1) / std::log(degree);
      EXPECT_EQ(tree_height(procs, degree), static_cast<std::uint32_t>(std::ceil(exact - 1e-9)));
    }
}

TEST(SharedMemory, Reductions) {
  EXPECT_EQ(to_text(simplify(shared_reduce(4)), {.channels = false}),
            "kL(S, 3) + kL(S, 1) + 3kγ(S, 1)");                                                   // (4.55)
  EXPECT_EQ(to_text(simplify(in_situ_reduce(4), {.drop_overheads = true}), {.channels = false}),  // (4.58)
            "64L(1, 1) + 40L(1, 2) + γ(m, 4) + L(0, 1) + L(0, 2)");
}

TEST(SharedMemory, SaysWhatDoesNotFit) {
  EXPECT_THROW(shared_broadcast(8, 0, 1), Error);
  EXPECT_THROW(shared_broadcast(8, 2, 0), Error);
  EXPECT_THROW(shared_reduce(0), Error);
}

}  // namespace
}  // namespace convene::model
