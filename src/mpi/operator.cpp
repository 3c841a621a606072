// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/operator.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <mutex>
#include <vector>

namespace convene::mpi {
namespace {

/// Scope in which errors without a communicator are returned: MPIs raise them on MPI_COMM_WORLD or on
/// MPI_COMM_SELF.
class ErrorsOfNobodyReturned {
 public:
  ErrorsOfNobodyReturned() {
    for (int i = 0; i < 2; ++i) {
      pmpi.Comm_get_errhandler(comms_[i], &before_[i]);
      pmpi.Comm_set_errhandler(comms_[i], MPI_ERRORS_RETURN);
    }
  }
  ~ErrorsOfNobodyReturned() {
    for (int i = 0; i < 2; ++i) {
      pmpi.Comm_set_errhandler(comms_[i], before_[i]);
      pmpi.Errhandler_free(&before_[i]);
    }
  }

 private:
  const MPI_Comm comms_[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
  MPI_Errhandler before_[2];
};

bool mpi_accepts(MPI_Op op, MPI_Datatype type) {
  const ErrorsOfNobodyReturned scope;
  alignas(64) std::byte operands[2][64] = {};
  return pmpi.Reduce_local(operands[0], operands[1], 0, type, op) == MPI_SUCCESS;
}

}  // namespace

bool is_predefined(MPI_Op op) {
  static const MPI_Op all[] = {MPI_MAX, MPI_MIN, MPI_SUM,  MPI_PROD, MPI_LAND,   MPI_BAND,
                               MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC};
  return std::find(std::begin(all), std::end(all), op) != std::end(all);
}

bool is_defined(MPI_Op op, MPI_Datatype type) {
  if (!is_predefined(op)) return op != MPI_OP_NULL && op != MPI_REPLACE && op != MPI_NO_OP;
  if (!facts_of(type).is_named) return false;
  static std::mutex mutex;
  static auto* known = new std::map<std::pair<std::uintptr_t, std::uintptr_t>, bool>;  // never freed
  const std::lock_guard lock(mutex);
  const std::pair key((std::uintptr_t)(op), (std::uintptr_t)(type));  // pointers or ints, by stack
  const auto found = known->find(key);
  return found != known->end() ? found->second : known->emplace(key, mpi_accepts(op, type)).first->second;
}

bool is_order_dependent(MPI_Op op, MPI_Datatype type) {
  if (!is_predefined(op)) return true;
  if (op != MPI_SUM && op != MPI_PROD) return false;
  // What is not listed (floating-point types above all) counts as dependent. The MPI is not asked which
  // operators a type has: Intel MPI ends the program for a pair that is not defined.
  static const MPI_Datatype integers[] = {
      MPI_SIGNED_CHAR,   MPI_SHORT,          MPI_INT,      MPI_LONG,          MPI_LONG_LONG,
      MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG,
      MPI_INT8_T,        MPI_INT16_T,        MPI_INT32_T,  MPI_INT64_T,       MPI_UINT8_T,
      MPI_UINT16_T,      MPI_UINT32_T,       MPI_UINT64_T, MPI_AINT,          MPI_OFFSET,
      MPI_INTEGER};
  return std::find(std::begin(integers), std::end(integers), type) == std::end(integers);
}

bool is_commutative(MPI_Op op) {
  int commutes = 1;
  if (!is_predefined(op)) pmpi.Op_commutative(op, &commutes);
  return commutes != 0;
}

namespace {

struct Held {
  MPI_Op op;
  int holders;
  bool is_freed;
};
std::mutex held_mutex;
std::vector<Held>& held() {
  static auto* list = new std::vector<Held>;  // never freed: programs finalize in any order
  return *list;
}

/// Call with the lock held.
std::vector<Held>::iterator find_held(MPI_Op op) {
  return std::find_if(held().begin(), held().end(), [&](const Held& each) { return each.op == op; });
}

}  // namespace

HeldOperator::HeldOperator(MPI_Op op) : op_(op == MPI_Op{} || is_predefined(op) ? MPI_Op{} : op) {
  if (op_ == MPI_Op{}) return;
  const std::lock_guard lock(held_mutex);
  const auto found = find_held(op_);
  if (found == held().end())
    held().push_back({op_, 1, false});
  else
    ++found->holders;
}

HeldOperator::~HeldOperator() {
  if (op_ == MPI_Op{}) return;
  bool is_freed = false;
  {
    const std::lock_guard lock(held_mutex);
    const auto found = find_held(op_);
    if (--found->holders > 0) return;
    is_freed = found->is_freed;
    held().erase(found);
  }
  if (is_freed) pmpi.Op_free(&op_);
}

int HeldOperator::free(MPI_Op* op, int (*native)(MPI_Op*)) {
  {
    const std::lock_guard lock(held_mutex);
    const auto found = op ? find_held(*op) : held().end();
    if (found != held().end()) {
      found->is_freed = true;
      *op = MPI_OP_NULL;
      return MPI_SUCCESS;
    }
  }
  return native(op);
}

void ItemOperator::prepare(MPI_Comm comm, Arena& arena) {
  comm_ = comm;
  if (facts_.is_dense || facts_.size == 0) return;
  constexpr std::ptrdiff_t room = 64 * 1024, alignment = 64;
  MPI_Aint lower = 0, reach = 0;
  pmpi.Type_get_true_extent(type_, &lower, &reach);
  const std::ptrdiff_t step = std::max<std::ptrdiff_t>(std::abs(facts_.extent), 1);
  at_once_ =
      static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, room / std::max<std::ptrdiff_t>(step, reach)));
  // From the lowest byte of any item to the highest, with the first item's address aligned like malloc's.
  const std::ptrdiff_t last = facts_.extent * static_cast<std::ptrdiff_t>(at_once_ - 1);
  const std::ptrdiff_t lowest = lower + std::min<std::ptrdiff_t>(0, last);
  const std::ptrdiff_t bytes = std::abs(last) + reach + alignment;
  const std::ptrdiff_t shift = (lowest % alignment + alignment) % alignment;
  for (std::byte** items : {&left_, &right_}) {
    const auto begin = reinterpret_cast<std::uintptr_t>(arena.take(static_cast<std::size_t>(bytes)));
    *items = reinterpret_cast<std::byte*>(begin + static_cast<std::uintptr_t>(shift - lowest));
  }
}

int ItemOperator::apply(void* self, const std::byte* left, std::byte* right, std::size_t bytes) {
  const auto& op = *static_cast<const ItemOperator*>(self);
  const std::size_t items = bytes / op.facts_.size;
  return op.facts_.is_dense ? op.apply_in_place(left, right, items) : op.apply_to_packed(left, right, items);
}

int ItemOperator::apply_in_place(const std::byte* left, std::byte* right, std::size_t items) const {
  while (items > 0) {
    const std::size_t now = std::min<std::size_t>(items, INT_MAX);
    const int code = pmpi.Reduce_local(left, right, static_cast<int>(now), type_, op_);
    if (code != MPI_SUCCESS) return code;
    left += now * facts_.size;
    right += now * facts_.size;
    items -= now;
  }
  return MPI_SUCCESS;
}

int ItemOperator::apply_to_packed(const std::byte* left, std::byte* right, std::size_t items) const {
  int code = MPI_SUCCESS;
  while (items > 0 && code == MPI_SUCCESS) {
    const std::size_t now = std::min(items, at_once_);
    const auto count = static_cast<MPI_Count>(now);
    code = unpack_items(left, left_, count, type_, facts_, comm_);
    if (code == MPI_SUCCESS) code = unpack_items(right, right_, count, type_, facts_, comm_);
    if (code == MPI_SUCCESS) code = pmpi.Reduce_local(left_, right_, static_cast<int>(now), type_, op_);
    if (code == MPI_SUCCESS) code = pack_items(right_, count, type_, facts_, right, comm_);
    left += now * facts_.size;
    right += now * facts_.size;
    items -= now;
  }
  return code;
}

}  // namespace convene::mpi
