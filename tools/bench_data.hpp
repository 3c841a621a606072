// SPDX-License-Identifier: BSD-3-Clause
// Data of a measurement, and its check.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "bench_collective.hpp"
#include "bench_neighbors.hpp"
#include "bench_types.hpp"

namespace convene::bench {

/// Bytes that repeat: a period, and an offset into it. No item of it is all zeros.
class Content {
 public:
  /// A block of plain bytes; blocks of different numbers differ.
  static Content of_block(std::size_t number) { return Content(bytes(), (number * 977 + 13) % prime, prime); }

  /// From item `first` on, what rank `rank` contributes to a reduction.
  static Content of_rank(const std::string& type, int rank, std::size_t first) {
    return of_items(type, first, [rank](int i) { return contribution(rank, i); });
  }

  /// From item `first` on, the ranks 0 … last combined.
  static Content combined(const std::string& type, const std::string& op, int last, std::size_t first) {
    return of_items(type, first, [&](int i) {
      long result = contribution(0, i);
      for (int rank = 1; rank <= last; ++rank) {
        const long next = contribution(rank, i);
        result = op == "max" ? std::max(result, next) : op == "min" ? std::min(result, next) : result + next;
      }
      return result;
    });
  }

  void write(std::uint8_t* to, std::size_t bytes_there) const {
    for (std::size_t at = 0; at < bytes_there; at += period_)
      std::memcpy(to + at, table_->data() + start_, std::min(period_, bytes_there - at));
  }

  bool is_in(const std::uint8_t* from, std::size_t bytes_there) const {
    for (std::size_t at = 0; at < bytes_there; at += period_)
      if (std::memcmp(from + at, table_->data() + start_, std::min(period_, bytes_there - at)) != 0)
        return false;
    return true;
  }

 private:
  using Table = std::vector<std::uint8_t>;
  static constexpr std::size_t prime = 65521;  // no block size is a multiple of it: missing pieces are
                                               // detected
  static constexpr int cycle = 97;             // items after which contributions repeat
  static constexpr int cycles = 32;            // in one period: comparing is faster in larger pieces

  Content(std::shared_ptr<const Table> table, std::size_t start, std::size_t period)
      : table_(std::move(table)), start_(start), period_(period) {}

  /// Small whole numbers above 0: sums of them are exact in every type.
  static long contribution(int rank, int i) { return 1 + (rank * 31L + i) % cycle; }

  static std::shared_ptr<const Table> bytes() {
    static const auto table = [] {
      auto made = std::make_shared<Table>(2 * prime);
      std::minstd_rand random(1);
      for (std::size_t i = 0; i < prime; ++i)
        (*made)[i] = (*made)[i + prime] = static_cast<std::uint8_t>(1 + random() % 255);
      return made;
    }();
    return table;
  }

  template <class Value>
  static Content of_items(const std::string& type, std::size_t first, Value&& value) {
    if (type == "int") return of_values<int>(first, value);
    if (type == "long") return of_values<long>(first, value);
    if (type == "float") return of_values<float>(first, value);
    return of_values<double>(first, value);
  }

  template <class Item, class Value>
  static Content of_values(std::size_t first, Value&& value) {
    std::vector<Item> items;
    for (int i = 0; i < cycle; ++i) items.push_back(static_cast<Item>(value(i)));
    auto table = std::make_shared<Table>(sizeof(Item) * cycle * (cycles + 1));
    for (std::size_t at = 0; at < table->size(); at += sizeof(Item) * cycle)
      std::memcpy(table->data() + at, items.data(), sizeof(Item) * cycle);
    return Content(table, first % cycle * sizeof(Item), sizeof(Item) * cycle * cycles);
  }

  std::shared_ptr<const Table> table_;
  std::size_t start_, period_;
};

/// Layout of the data of one size.
struct Layout {
  Collective collective;
  int procs, rank, root;
  bool rotates_root = false;     ///< the root of each call is the next rank
  bool rotates_buffers = false;  ///< each call has the next buffers, if blocks do not fit the L2 cache
  std::string type = "byte";
  std::string op = "sum";
  std::string distribution = "regular";
};

/// The buffers of one rank. All contenders use the same, so that none has warmer caches.
class Data {
 public:
  /// `bytes`: of the mean block; of the whole vector if the collective has no blocks.
  Data(const Layout& layout, std::size_t bytes)
      : layout_(layout),
        item_(item_type(layout.type)),
        size_(bytes),
        count_(static_cast<int>(bytes / item_.bytes)),
        counts_(is_irregular(layout.collective)
                    ? block_counts(layout.distribution, layout.procs, bytes / item_.bytes)
                    : std::vector<int>(static_cast<std::size_t>(layout.procs), count_)),
        displacements_(counts_.size()),
        types_(counts_.size(), item_.type) {
    std::exclusive_scan(counts_.begin(), counts_.end(), displacements_.begin(), 0);
    own_counts_.assign(counts_.size(), own_count());
    for (int r = 0; r < layout.procs; ++r) own_displacements_.push_back(r * own_count());
    if (is_neighborhood(layout.collective)) lay_out_neighbors();
    describe();
    if (layout.rotates_buffers && bytes >= bytes_of_l2())
      copies_ = copies_of(end_of(inputs_) + end_of(outputs_));
    make(input_, inputs_);
    make(output_, outputs_);
    if (traits(layout.collective).send.types == Types::per_peer)
      for (auto* displacements : {&displacements_, &own_displacements_})
        for (int& each : *displacements) each *= static_cast<int>(item_.bytes);
    for (used_ = 0; used_ < copies_; ++used_)
      for (const Piece& piece : inputs_)
        piece.content.write(&input_[begin_of(input_) + piece.at], piece.bytes);
    used_ = 0;
    if (is_both()) output_ = input_;
  }

  std::size_t size() const { return size_; }
  const Layout& layout() const { return layout_; }
  const std::vector<int>& counts() const { return counts_; }
  std::size_t item_bytes() const { return item_.bytes; }

  /// Overwrites the output with wrong data.
  void spoil() {
    if (!is_both()) std::fill(output_.begin(), output_.end(), std::uint8_t{0});
  }

  /// That of the last call.
  bool is_right() const {
    return std::all_of(outputs_.begin(), outputs_.end(), [this](const Piece& piece) {
      return piece.content.is_in(&output_[begin_of(output_) + piece.at], piece.bytes);
    });
  }
  /// The input of the last call.
  const void* input() const { return &input_[begin_of(input_)]; }

  /// Calls the collective through a call table; returns the MPI's code. The variables are named as the
  /// arguments in mpi/collective_table.hpp.
  int call(const CallTable& calls, MPI_Comm comm) {
    const Collective collective = layout_.collective;
    const bool has_blocks_of_own = has_unequal_pairs(collective) || is_neighborhood(collective);
    const MPI_Datatype type = item_.type, sendtype = type, recvtype = type;
    const MPI_Op op = operation(layout_.op);
    used_ = (used_ + 1) % copies_;
    void *const sendbuf = &input_[begin_of(input_)], *const recvbuf = &output_[begin_of(output_)],
                *const buffer = recvbuf;
    const int count = count_, root = layout_.rotates_root ? next_root() : layout_.root;
    const int sendcount = is_irregular(collective) ? own_count() : count_, recvcount = sendcount;
    const bool has_targets = is_neighborhood(collective);
    const int* const sendcounts = has_targets ? target_counts_.data() : counts_.data();
    const int* const sdispls = has_targets ? target_displacements_.data() : displacements_.data();
    const int* const recvcounts = has_blocks_of_own ? own_counts_.data() : counts_.data();
    const int* const rdispls = has_blocks_of_own ? own_displacements_.data() : displacements_.data();
    const int* const displs = rdispls;
    const MPI_Datatype *const sendtypes = types_.data(), *const recvtypes = sendtypes;
    switch (collective) {
#define CONVENE_CASE(Name, name, NAME, PATTERN, ...) \
  case Collective::name:                             \
    return calls.name(CONVENE_NAMES(PATTERN));
      CONVENE_COLLECTIVES(CONVENE_CASE, CONVENE_CASE, CONVENE_CASE)
#undef CONVENE_CASE
    }
    return MPI_ERR_OTHER;
  }

 private:
  struct Piece {
    std::size_t at, bytes;
    Content content;
  };

  int own_count() const { return counts_[static_cast<std::size_t>(layout_.rank)]; }
  /// Rotating roots need the buffers of a root on all ranks.
  bool is_root() const { return layout_.rotates_root || layout_.rank == layout_.root; }
  int next_root() { return calls_++ % layout_.procs; }
  /// The root of a broadcast sends from the buffer in which others receive.
  bool is_both() const { return layout_.collective == Collective::bcast && is_root(); }

  std::size_t bytes_of(int items) const { return static_cast<std::size_t>(items) * item_.bytes; }
  static std::size_t block(int number) { return static_cast<std::size_t>(number); }

  void input(int at, int items, Content content) {
    inputs_.push_back({bytes_of(at), bytes_of(items), content});
  }
  void output(int at, int items, Content content) {
    outputs_.push_back({bytes_of(at), bytes_of(items), content});
  }

  Content mine(int first = 0) const { return Content::of_rank(layout_.type, layout_.rank, block(first)); }
  Content combined(int last, int first = 0) const {
    return Content::combined(layout_.type, layout_.op, last, block(first));
  }

  /// Blocks are received from the neighbours only: contiguous, in their order.
  void lay_out_neighbors() {
    neighbors_ = neighbors_on_plane(layout_.rank, layout_.procs);
    const bool is_alltoall = traits(layout_.collective).postcondition == Postcondition::neighbor_alltoall;
    own_counts_.clear();
    for (const int source : neighbors_.sources)
      own_counts_.push_back(is_alltoall ? own_count() : counts_[block(source)]);
    for (const int target : neighbors_.targets) target_counts_.push_back(counts_[block(target)]);
    const auto back_to_back = [](const std::vector<int>& counts, std::vector<int>& displacements) {
      displacements.assign(counts.size(), 0);
      std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
    };
    back_to_back(own_counts_, own_displacements_);
    back_to_back(target_counts_, target_displacements_);
  }

  /// Contents of the buffers, before and after.
  void describe() {
    const int procs = layout_.procs, rank = layout_.rank, last = procs - 1;
    const int total = displacements_.back() + counts_.back();
    if (layout_.collective == Collective::barrier) return;
    switch (traits(layout_.collective).postcondition) {
      case Postcondition::allgather:
      case Postcondition::gather: {
        input(0, own_count(), Content::of_block(block(rank)));
        const bool receives = is_root() || !is_rooted(layout_.collective);
        for (int r = 0; receives && r < procs; ++r)
          output(displacements_[block(r)], counts_[block(r)], Content::of_block(block(r)));
        return;
      }
      case Postcondition::scatter:
        for (int r = 0; is_root() && r < procs; ++r)
          input(displacements_[block(r)], counts_[block(r)], Content::of_block(block(r)));
        return output(0, own_count(), Content::of_block(block(rank)));
      case Postcondition::bcast:
        if (is_root()) input(0, count_, Content::of_block(block(rank)));
        return output(0, count_, Content::of_block(block(layout_.root)));
      case Postcondition::alltoall:
        for (int r = 0; r < procs; ++r) {
          input(displacements_[block(r)], counts_[block(r)], Content::of_block(block(rank * procs + r)));
          output(own_displacements_[block(r)], own_count(), Content::of_block(block(r * procs + rank)));
        }
        return;
      case Postcondition::neighbor_allgather:
        input(0, own_count(), Content::of_block(block(rank)));
        for (std::size_t i = 0; i < own_counts_.size(); ++i)
          output(own_displacements_[i], own_counts_[i], Content::of_block(block(neighbors_.sources[i])));
        return;
      case Postcondition::neighbor_alltoall: {  // a rank is target i of its source i
        const std::size_t peers = neighbors_.targets.size();
        for (std::size_t i = 0; i < peers; ++i) {
          input(target_displacements_[i], target_counts_[i], Content::of_block(block(rank) * peers + i));
          output(own_displacements_[i], own_counts_[i],
                 Content::of_block(block(neighbors_.sources[i]) * peers + i));
        }
        return;
      }
      case Postcondition::reduce:
        input(0, count_, mine());
        if (is_root()) output(0, count_, combined(last));
        return;
      case Postcondition::allreduce:
        input(0, count_, mine());
        return output(0, count_, combined(last));
      case Postcondition::reduce_scatter:
        input(0, total, mine());
        return output(0, own_count(), combined(last, displacements_[block(rank)]));
      case Postcondition::scan:
        input(0, count_, mine());
        return output(0, count_, combined(rank));
      case Postcondition::exscan:
        input(0, count_, mine());
        if (rank > 0) output(0, count_, combined(rank - 1));
        return;
    }
  }

  static std::size_t end_of(const std::vector<Piece>& pieces) {
    std::size_t end = 0;
    for (const Piece& piece : pieces) end = std::max(end, piece.at + piece.bytes);
    return end;
  }
  /// Copies of a buffer that contains the pieces. (An empty vector may have no address.)
  void make(std::vector<std::uint8_t>& buffer, const std::vector<Piece>& pieces) const {
    constexpr std::size_t line = 64;
    buffer.assign((end_of(pieces) / line + 1) * line * copies_, 0);
  }
  /// Where the copy that is used begins.
  std::size_t begin_of(const std::vector<std::uint8_t>& buffer) const {
    return buffer.size() / copies_ * used_;
  }

  static std::size_t bytes_of_l2() {
    constexpr long least = 1 << 18;
    return static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), least));
  }
  /// One if the buffers alone are larger than most caches.
  static std::size_t copies_of(std::size_t bytes) {
    constexpr std::size_t large = 64 << 20;
    return bytes < large ? 3 : 1;
  }

  Layout layout_;
  ItemType item_;
  std::size_t size_;
  int count_;
  int calls_ = 0;  // equal on all ranks
  std::vector<int> counts_, displacements_, own_counts_, own_displacements_, target_counts_,
      target_displacements_;
  std::vector<MPI_Datatype> types_;
  Neighbors neighbors_;
  std::vector<Piece> inputs_, outputs_;
  std::size_t copies_ = 1, used_ = 0;         // of the buffers; the one of the last call
  std::vector<std::uint8_t> input_, output_;  // all copies
};

}  // namespace convene::bench
