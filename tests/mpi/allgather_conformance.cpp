// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgather and MPI_Allgatherv, compared with independently computed results. An ordinary MPI program:
// alone it checks the MPI, with Convene's drop-in library it checks Convene.
//
//   allgather_conformance [--quick] [--even] [--only SECTION] [--skip SECTION]…
//
// --even only creates communicators whose size is that of the world, its half or 1, for algorithms that need
// an even number of processes or a power of two.
#include <mpi.h>

#include <cstdlib>
#include <cstring>

#include "error_notes.hpp"
#include "gather_check.hpp"
#include "gather_shapes.hpp"

namespace {

struct Options {
  bool quick = false, even = false;
  std::vector<std::string> only, skipped;

  bool wants(const std::string& section) const {
    const auto in = [&](const auto& list) {
      return std::find(list.begin(), list.end(), section) != list.end();
    };
    return (only.empty() || in(only)) && !in(skipped);
  }
};

/// Environment of a section: counters, the world, the options.
struct Run {
  Tally& tally;
  const Comm& world;
  const Options& options;

  /// The call in all forms, with and without MPI_IN_PLACE.
  void in_all_forms(const Comm& comm, Case c) const {
    for (const Form form : forms())
      for (const bool in_place : {false, true}) {
        c.form = form;
        c.in_place = in_place;
        check(tally, comm, c);
      }
  }
};

// -------------------------------------------------------------------------------------------------------
// datatypes

void counts(const Run& run) {
  const Type byte = typemap::named("MPI_BYTE", MPI_BYTE, 1, 'b'),
             number = typemap::named("MPI_INT", MPI_INT, 4, 'i');
  std::vector<std::size_t> sizes = {0, 1, 3, 17, 1024, 40001};
  if (!run.options.quick) sizes.insert(sizes.end(), {2, 64, 255, 4096, 65536, 300000});
  for (const Type* type : {&byte, &number})
    for (const std::size_t size : sizes)
      run.in_all_forms(run.world, {.send = type, .receive = type, .units = equal_units(run.world, size)});
}

void named_types(const Run& run) {
  for (const Type& type : shapes::named_types())
    run.in_all_forms(run.world, {.send = &type, .receive = &type, .units = equal_units(run.world, 3)});
}

/// Every type with itself, and with each other type of the same signature.
void derived_types(const Run& run) {
  for (std::vector<Type>& family : shapes::families()) {
    for (const Type& send : family)
      for (const Type& receive : family) {
        if (run.options.quick && &send != &receive && &send != &family[0] && &receive != &family[0]) continue;
        check(run.tally, run.world, {.send = &send, .receive = &receive, .units = equal_units(run.world, 1)});
        check(run.tally, run.world,
              {.form = Form::allgatherv,
               .send = &send,
               .receive = &receive,
               .units = shapes::rising(run.world),
               .layout = Layout::backwards});
      }
    for (const Type& type : family)
      run.in_all_forms(
          run.world,
          {.send = &type, .receive = &type, .units = shapes::rising(run.world), .layout = Layout::gaps});
    for (Type& type : family) type.free();
  }
}

/// Types without data, some of which only look empty.
void empty_types(const Run& run) {
  std::vector<Type> family = shapes::empty_types();
  for (const Type& send : family)
    for (const Type& receive : family)
      run.in_all_forms(run.world, {.send = &send, .receive = &receive, .units = equal_units(run.world, 3)});
  for (Type& type : family) type.free();
}

/// Columns of a matrix: the ranks' items are interleaved.
void interleaved(const Run& run) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i');
  Type column = typemap::vector(4, 1, run.world.size, number);
  Type narrow = typemap::resized(column, 0, number.extent);
  run.in_all_forms(run.world, {.send = &narrow, .receive = &narrow, .units = equal_units(run.world, 1)});
  check(run.tally, run.world, {.send = &number, .receive = &narrow, .units = equal_units(run.world, 1)});
  narrow.free();
  column.free();
}

void irregular(const Run& run) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i'),
             pair = typemap::pair<double>("MPI_DOUBLE_INT", MPI_DOUBLE_INT, 'd');
  for (const auto& units : shapes::distributions(run.world, run.options.quick ? 300 : 20000))
    for (const Layout layout : {Layout::packed, Layout::gaps, Layout::backwards})
      for (const Type* type : {&number, &pair})
        for (const Form form : forms())
          for (const bool in_place : {false, true})
            if (is_irregular(form)) check(run.tally, run.world, {form, type, type, units, layout, in_place});
}

/// Absolute addresses: MPI_BOTTOM as send buffer, and as receive buffer of a type with addresses.
void absolute_addresses(const Run& run) {
  const auto procs = static_cast<std::size_t>(run.world.size);
  std::vector<int> all(procs * 2, -1);
  int mine[2] = {run.world.rank * 2, run.world.rank * 2 + 1}, length = 2;
  MPI_Aint from, to;
  MPI_Get_address(mine, &from);
  MPI_Get_address(all.data(), &to);
  MPI_Datatype here, there;
  MPI_Type_create_hindexed(1, &length, &from, MPI_INT, &here);
  MPI_Type_create_hindexed(1, &length, &to, MPI_INT, &there);
  MPI_Type_commit(&here);
  MPI_Type_commit(&there);
  for (const bool in_place : {false, true}) {
    std::fill(all.begin(), all.end(), -1);
    std::memcpy(all.data() + 2 * run.world.rank, mine, sizeof mine);
    ++run.tally.calls;
    MPI_Allgather(in_place ? MPI_IN_PLACE : MPI_BOTTOM, 1, here, MPI_BOTTOM, 1, there, run.world.handle);
    for (std::size_t i = 0; i < all.size(); ++i)
      run.tally.expect(all[i] == static_cast<int>(i), "MPI_BOTTOM: item " + std::to_string(i));
  }
  MPI_Type_free(&here);
  MPI_Type_free(&there);
}

/// An MPI may reuse the handle of a freed type.
void reused_handles(const Run& run) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i');
  for (int i = 0; i < (run.options.quick ? 4 : 20); ++i) {
    Type dense = typemap::contiguous(4, number);
    check(run.tally, run.world, {.send = &dense, .receive = &dense, .units = equal_units(run.world, 2)});
    dense.free();
    Type sparse = typemap::vector(2, 1, 3, number);
    check(run.tally, run.world, {.send = &sparse, .receive = &sparse, .units = equal_units(run.world, 2)});
    sparse.free();
    Type other = typemap::contiguous(2, number);
    check(run.tally, run.world, {.send = &other, .receive = &other, .units = equal_units(run.world, 3)});
    other.free();
  }
}

// ---------------------------------------------------------------------------------------------------
// communicators

void some_calls(const Run& run, const Comm& comm) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i'),
             pair = typemap::pair<short>("MPI_SHORT_INT", MPI_SHORT_INT, 's');
  for (const Type* type : {&number, &pair})
    run.in_all_forms(comm,
                     {.send = type, .receive = type, .units = shapes::rising(comm), .layout = Layout::gaps});
}

void on_new_communicator(const Run& run, const char* name, MPI_Comm handle) {
  if (handle == MPI_COMM_NULL) return;
  some_calls(run, Comm(name, handle));
  MPI_Comm_free(&handle);
}

void communicators(const Run& run) {
  const MPI_Comm world = run.world.handle;
  const int rank = run.world.rank, size = run.world.size;
  some_calls(run, run.world);
  some_calls(run, Comm("MPI_COMM_SELF", MPI_COMM_SELF));
  MPI_Comm made;
  MPI_Comm_dup(world, &made);
  on_new_communicator(run, "duplicate", made);
  MPI_Comm_split(world, 0, -rank, &made);
  on_new_communicator(run, "reversed", made);
  int dimensions[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Dims_create(size, 2, dimensions);
  MPI_Cart_create(world, 2, dimensions, periods, 1, &made);
  on_new_communicator(run, "Cartesian", made);
  MPI_Comm_split(world, rank % 2, rank, &made);
  if (!run.options.even || size % 2 == 0)
    on_new_communicator(run, "every other rank", made);
  else
    MPI_Comm_free(&made);
  if (run.options.even) return;
  MPI_Comm_split(world, rank == 0 ? MPI_UNDEFINED : 0, rank, &made);
  on_new_communicator(run, "all but the first", made);
}

/// Between two groups every rank gathers from the other one. (Convene leaves these calls native.)
void intercommunicator(const Run& run) {
  const int rank = run.world.rank, size = run.world.size, group = rank % 2;
  if (size < 2) return;
  MPI_Comm half, between;
  MPI_Comm_split(run.world.handle, group, rank, &half);
  MPI_Intercomm_create(half, 0, run.world.handle, 1 - group, 7, &between);
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  std::vector<int> got(static_cast<std::size_t>(others), -1), counts(got.size(), 1), at(got.size());
  std::iota(at.begin(), at.end(), 0);
  for (int round = 0; round < 2; ++round) {
    const int mine = 1000 * round + rank;
    std::fill(got.begin(), got.end(), -1);
    ++run.tally.calls;
    if (round == 0)
      MPI_Allgather(&mine, 1, MPI_INT, got.data(), 1, MPI_INT, between);
    else
      MPI_Allgatherv(&mine, 1, MPI_INT, got.data(), counts.data(), at.data(), MPI_INT, between);
    for (int i = 0; i < others; ++i)
      run.tally.expect(got[static_cast<std::size_t>(i)] == 1000 * round + 2 * i + 1 - group,
                       "intercommunicator");
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/// Short-lived communicators: an MPI reuses their handles and context numbers.
void reused_communicators(const Run& run) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i');
  for (int i = 0; i < (run.options.quick ? 5 : 40); ++i) {
    MPI_Comm first, second;
    MPI_Comm_dup(run.world.handle, &first);
    MPI_Comm_split(run.world.handle, 0, i % 2 ? run.world.rank : -run.world.rank, &second);
    check(run.tally, Comm("first", first),
          {.send = &number, .receive = &number, .units = equal_units(run.world, 5)});
    check(run.tally, Comm("second", second),
          {.send = &number, .receive = &number, .units = equal_units(run.world, 2)});
    MPI_Comm_free(&first);
    check(run.tally, Comm("second again", second),
          {.send = &number, .receive = &number, .units = equal_units(run.world, 3)});
    MPI_Comm_free(&second);
  }
}

// -------------------------------------------------------------------------------- Convene's visible effects

int copies = 0, deletions = 0;

int count_copy(MPI_Comm, int, void*, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}

int count_deletion(MPI_Comm, int, void*, void*) {
  ++deletions;
  return MPI_SUCCESS;
}

/// The program's attributes are copied when the program duplicates, and at no other time.
void attributes(const Run& run) {
  copies = deletions = 0;
  int keyval, value = 42;
  MPI_Comm_create_keyval(count_copy, count_deletion, &keyval, nullptr);
  MPI_Comm comm, duplicate;
  MPI_Comm_dup(run.world.handle, &comm);
  MPI_Comm_set_attr(comm, keyval, &value);
  some_calls(run, Comm("with an attribute", comm));
  run.tally.expect(copies == 0 && deletions == 0, "a collective called back for the program's attribute");
  MPI_Comm_dup(comm, &duplicate);
  some_calls(run, Comm("its duplicate", duplicate));
  some_calls(run, Comm("with an attribute", comm));
  run.tally.expect(copies == 1 && deletions == 0, "one duplicate, " + std::to_string(copies) + " copies");
  MPI_Comm_free(&comm);
  run.tally.expect(deletions == 1, "one communicator freed, " + std::to_string(deletions) + " deletions");
  some_calls(run, Comm("the duplicate, alone", duplicate));
  MPI_Comm_free(&duplicate);
  run.tally.expect(copies == 1 && deletions == 2,
                   "two communicators freed, " + std::to_string(deletions) + " deletions");
  MPI_Comm_free_keyval(&keyval);
}

/// Wrong arguments: the program's error handler is called, and the communicator works afterwards.
void error_handlers(const Run& run) {
  MPI_Comm comm;
  MPI_Comm_dup(run.world.handle, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int mine = 1;
  std::vector<int> all(static_cast<std::size_t>(run.world.size));
  const auto with_count = [&](int count) {
    return MPI_Allgather(&mine, count, MPI_INT, all.data(), count, MPI_INT, comm);
  };
  const auto with_type = [&](MPI_Datatype type) {
    return MPI_Allgather(&mine, 1, type, all.data(), 1, type, comm);
  };
  run.tally.expect(class_of(with_count(-1)) == MPI_ERR_COUNT, "a negative count before the first call");
  some_calls(run, Comm("errors return", comm));
  run.tally.expect(class_of(with_count(-1)) == MPI_ERR_COUNT, "a negative count");
  run.tally.expect(class_of(with_type(MPI_DATATYPE_NULL)) == MPI_ERR_TYPE, "no datatype");
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(comm, &before);
  run.tally.expect(before == MPI_ERRORS_RETURN, "the error handler is another one");
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  handled = 0;
  with_count(-1);
  run.tally.expect(handled == 1 && handled_comm == comm,
                   "the program's error handler was called " + std::to_string(handled) + " times");
  some_calls(run, Comm("own handler", comm));
  run.tally.expect(handled == 1, "an error handler was called without an error");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

/// More data arrives than fits: an error of the transport, for which the program's handler must be called.
void truncation(const Run& run) {
  if (run.world.size != 2) return;
  MPI_Comm comm;
  MPI_Comm_dup(run.world.handle, &comm);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  handled = 0;
  const int mine[4] = {1, 2, 3, 4};
  int all[8] = {};
  ++run.tally.calls;
  const int code = MPI_Allgather(mine, 4, MPI_INT, all, 1, MPI_INT, comm);
  run.tally.expect(class_of(code) == MPI_ERR_TRUNCATE,
                   "truncation returned class " + std::to_string(class_of(code)));
  run.tally.expect(handled == 1 && handled_comm == comm,
                   "truncation: the handler was called " + std::to_string(handled) + " times");
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&comm);
}

/// A communicator's first collective is non-blocking and pending when the first blocking one is called.
void outstanding(const Run& run) {
  const Type number = typemap::named("MPI_INT", MPI_INT, 4, 'i');
  for (int i = 0; i < 4; ++i) {
    MPI_Comm made;
    MPI_Comm_dup(run.world.handle, &made);
    const Comm comm("first call non-blocking", made);
    std::vector<int> all(static_cast<std::size_t>(comm.size), -1);
    const int mine = comm.rank + i;
    MPI_Request request;
    MPI_Iallgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, made, &request);
    check(run.tally, comm, {.send = &number, .receive = &number, .units = equal_units(comm, 3)});
    some_calls(run, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int j = 0; j < comm.size; ++j)
      run.tally.expect(all[static_cast<std::size_t>(j)] == j + i, "the outstanding MPI_Iallgather");
    MPI_Comm_free(&made);
  }
}

/// Pending messages of the program, with any tag and from any rank, do not match Convene's, and vice versa.
void pending_messages(const Run& run) {
  const Comm& world = run.world;
  int got = -1, mine = world.rank;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world.handle, &request);
  some_calls(run, world);
  MPI_Send(&mine, 1, MPI_INT, (world.rank + 1) % world.size, 3, world.handle);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  run.tally.expect(got == (world.rank + world.size - 1) % world.size, "a message of the program's own");
}

void many_calls(const Run& run) {
  const int calls = run.options.quick ? 300 : 2000;  // more than the tags have collective numbers
  std::vector<int> all(static_cast<std::size_t>(run.world.size));
  for (int i = 0; i < calls; ++i) {
    const int mine = run.world.rank * calls + i;
    ++run.tally.calls;
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, run.world.handle);
    for (int j = 0; j < run.world.size; ++j)
      if (all[static_cast<std::size_t>(j)] != j * calls + i)
        run.tally.expect(false, "call " + std::to_string(i));
  }
}

// --------------------------------------------------------------------------------------------------------

struct Section {
  const char* name;
  void (*run)(const Run&);
};

constexpr Section sections[] = {
    {"counts", counts},
    {"named_types", named_types},
    {"derived_types", derived_types},
    {"empty_types", empty_types},
    {"interleaved", interleaved},
    {"irregular", irregular},
    {"absolute_addresses", absolute_addresses},
    {"reused_handles", reused_handles},
    {"communicators", communicators},
    {"intercommunicator", intercommunicator},
    {"reused_communicators", reused_communicators},
    {"attributes", attributes},
    {"error_handlers", error_handlers},
    {"outstanding", outstanding},
    {"pending_messages", pending_messages},
    {"many_calls", many_calls},
    {"truncation", truncation},
};

Options read_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) options.quick = true;
    if (std::strcmp(argv[i], "--even") == 0) options.even = true;
    if (std::strcmp(argv[i], "--only") == 0 && i + 1 < argc) options.only.emplace_back(argv[++i]);
    if (std::strcmp(argv[i], "--skip") == 0 && i + 1 < argc) options.skipped.emplace_back(argv[++i]);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Options options = read_options(argc, argv);
  const Comm world("MPI_COMM_WORLD", MPI_COMM_WORLD);
  long all[2] = {0, 0}, mine[2] = {0, 0};
  for (const Section& section : sections) {
    if (!options.wants(section.name)) continue;
    Tally tally;
    const double start = MPI_Wtime();
    section.run({tally, world, options});
    if (std::getenv("CONFORMANCE_VERBOSE") && world.rank == 0)
      std::printf("%-22s %6ld calls %7.2f s\n", section.name, tally.calls, MPI_Wtime() - start);
    if (tally.failures > 0) std::fprintf(stderr, "rank %d: section %s failed\n", world.rank, section.name);
    mine[0] += tally.calls;
    mine[1] += tally.failures;
  }
  MPI_Allreduce(mine, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (world.rank == 0) std::printf("%ld calls, %ld failures\n", all[0], all[1]);
  MPI_Finalize();
  return all[0] == 0 || all[1] != 0;
}
