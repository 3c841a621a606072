// SPDX-License-Identifier: BSD-3-Clause
// SUMMA under τ-Lop: the cost of its communication, from a partition of the matrices and the nodes of the
// processes.
//
// C = A × B of N × N blocks. The partition has columns of rectangles, one rectangle for each process, the
// same for all three matrices. In iteration k the owners of A's k-th column of blocks send their blocks to
// the processes of all other columns that have the same rows, one message for each; and in each column of the
// partition the owner of B's k-th row broadcasts its blocks in a binomial tree.
//
// Source: the τ-Lop thesis, appendix A, with its assumptions: in sequence, messages of one channel add up
// (A1, A4); concurrent messages of one channel contend as long as the shorter one lasts (A2); concurrent
// sequences are split by channels ((A.5)). All messages between nodes contend with each other, as in the
// source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/taulop/cost_expression.hpp"

namespace convene::model {

struct Rectangle {
  std::uint32_t process;
  std::uint32_t height;  ///< blocks
};
struct PartitionColumn {
  std::uint32_t width;  ///< blocks
  std::vector<Rectangle> rectangles;
};

/// The costs of A's columns of blocks, which are sent along rows of the partition, of B's rows, and of both,
/// over all N iterations. Sizes are in bytes, `block` per block: with 1, in blocks, as in the source.
struct SummaCost {
  Expression rows, columns, total;
  /// `total` before A1 adds up the messages of all iterations, as in (A.7) and (A.8): it has the overhead of
  /// each iteration, and L at the size of its messages.
  Expression by_iteration;
};

/// `node_of`: by process. Throws Error if widths or heights do not add up to the same N, or if a process has
/// no rectangle, more than one, or no node.
SummaCost summa(const std::vector<PartitionColumn>& partition, const std::vector<std::uint32_t>& node_of,
                std::uint32_t block = 1);

}  // namespace convene::model
