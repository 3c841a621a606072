// SPDX-License-Identifier: BSD-3-Clause
// SUMMA on any partition: C = A × B with one rectangle of the matrices for each process.
//
// In iteration k the owners of A's k-th column of blocks send their parts to the processes of other columns
// of the partition that have the same rows (MPI_Isend, MPI_Irecv), and the owner of B's k-th row in each
// column broadcasts its part there (MPI_Bcast). Then every process updates its rectangle of C.
//
//     mpicc -O2 summa.c -o summa
//     mpirun -n 6 ./summa --partition "149: 4 139, 5 117; 107: 0 81, 1 80, 2 58, 3 37" --block 4
//
// Source: van de Geijn and Watts 1995; irregular partitions: the τ-Lop thesis (Rico-Gallego 2015), appendix
// A. Output: one line of JSON, seconds by repetition. `communication` has the messages alone, without a
// product.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };  // processes, columns

typedef struct {
  int column, place, top, height, left, width;  // blocks
} Rectangle;

typedef struct {
  int columns, blocks, procs;
  int height_of[MOST];  // by column: number of rectangles
  Rectangle of[MOST];   // by process
} Partition;

typedef struct {
  const Partition* partition;
  Rectangle own;
  int rank, block;
  MPI_Comm column;    // processes of the own column of the partition, from the top
  double *a, *b, *c;  // own rectangle, by rows
  double* a_part;     // own rows of A's column k
  double* b_part;     // own columns of B's row k
  double* packed;     // own part of A's column k, when this process owns it
  MPI_Request* requests;
  MPI_Status* statuses;
} Kernel;

static void fail(const char* what) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "convene-summa: %s\n", what);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  exit(2);
}

static void* allocate(size_t doubles) {
  void* memory = calloc(doubles ? doubles : 1, sizeof(double));
  if (!memory) {
    fprintf(stderr, "convene-summa: out of memory; give a smaller --block\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

// "149: 4 139, 5 117; 107: …": columns separated by semicolons or newlines, as in the .partition files.
static Partition read_partition(const char* text, int procs) {
  Partition found = {.procs = procs};
  char seen[MOST] = {0};
  if (procs > MOST) fail("more than 1024 processes; use fewer");
  while (*text) {
    int width, used;
    if (sscanf(text, " %d :%n", &width, &used) != 1 || width < 1)
      fail("--partition: expected WIDTH: PROCESS HEIGHT, …");
    text += used;
    int row = 0, places = 0, process, height;
    do {
      if (sscanf(text, " %d %d%n", &process, &height, &used) != 2 || process < 0 || process >= procs ||
          height < 1 || seen[process])
        fail("--partition: each process needs one rectangle, PROCESS HEIGHT, and there must be -n processes");
      text += used;
      seen[process] = 1;
      found.of[process] = (Rectangle){found.columns, places++, row, height, found.blocks, width};
      row += height;
      text += strspn(text, " ");
    } while (*text == ',' && text++);
    found.height_of[found.columns++] = row;
    found.blocks += width;
    text += strspn(text, " ;\n");
  }
  for (int column = 0; column < found.columns; ++column)
    if (found.height_of[column] != found.blocks)
      fail("--partition: the matrices are squares; heights of a column must add up to all widths");
  for (int rank = 0; rank < procs; ++rank)
    if (!seen[rank]) fail("--partition: there are more processes than rectangles");
  return found;
}

// Small integers: sums of products are exact.
static double element_of_a(long i, long j) { return (double)((i * 7 + j * 3) % 11 - 5); }
static double element_of_b(long i, long j) { return (double)((i * 5 + j * 2) % 13 - 6); }

static Kernel make(const Partition* partition, int rank, int block, int with_product) {
  const Rectangle own = partition->of[rank];
  const size_t rows = (size_t)own.height * block, columns = (size_t)own.width * block;
  Kernel kernel = {.partition = partition, .own = own, .rank = rank, .block = block};
  MPI_Comm_split(MPI_COMM_WORLD, own.column, own.place, &kernel.column);
  kernel.a_part = allocate(rows * block);
  kernel.b_part = allocate(columns * block);
  kernel.packed = allocate(rows * block);
  kernel.requests = malloc(sizeof(MPI_Request) * (size_t)partition->procs);
  kernel.statuses = malloc(sizeof(MPI_Status) * (size_t)partition->procs);
  if (!with_product) return kernel;
  kernel.a = allocate(rows * columns);
  kernel.b = allocate(rows * columns);
  kernel.c = allocate(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) {
      const long row = (long)own.top * block + (long)i, column = (long)own.left * block + (long)j;
      kernel.a[i * columns + j] = element_of_a(row, column);
      kernel.b[i * columns + j] = element_of_b(row, column);
    }
  return kernel;
}

static void destroy(Kernel* kernel) {
  free(kernel->a), free(kernel->b), free(kernel->c);
  free(kernel->a_part), free(kernel->b_part), free(kernel->packed), free(kernel->requests),
      free(kernel->statuses);
  MPI_Comm_free(&kernel->column);
}

static int owns_column(const Kernel* kernel, int k) {
  return kernel->own.left <= k && k < kernel->own.left + kernel->own.width;
}

static int root_of(const Kernel* kernel, int k) {
  for (int rank = 0; rank < kernel->partition->procs; ++rank) {
    const Rectangle* each = &kernel->partition->of[rank];
    if (each->column == kernel->own.column && each->top <= k && k < each->top + each->height)
      return each->place;
  }
  return -1;
}

// Before the messages: A's column and B's row where this process owns them.
static void pack(Kernel* kernel, int k) {
  const size_t block = (size_t)kernel->block, columns = (size_t)kernel->own.width * block;
  if (owns_column(kernel, k))
    for (size_t i = 0; i < (size_t)kernel->own.height * block; ++i)
      memcpy(kernel->packed + i * block, kernel->a + i * columns + (size_t)(k - kernel->own.left) * block,
             block * sizeof(double));
  if (root_of(kernel, k) == kernel->own.place)
    memcpy(kernel->b_part, kernel->b + (size_t)(k - kernel->own.top) * block * columns,
           columns * block * sizeof(double));
}

static void communicate(Kernel* kernel, int k) {
  const int area = kernel->block * kernel->block, is_owner = owns_column(kernel, k);
  const Rectangle own = kernel->own;
  int open = 0;
  for (int rank = 0; rank < kernel->partition->procs; ++rank) {
    const Rectangle other = kernel->partition->of[rank];
    const int first = own.top > other.top ? own.top : other.top;
    const int own_end = own.top + own.height, other_end = other.top + other.height;
    const int count = (own_end < other_end ? own_end : other_end) - first;
    if (other.column == own.column || count <= 0) continue;
    const size_t at = (size_t)(first - own.top) * (size_t)area;
    if (is_owner)
      MPI_Isend(kernel->packed + at, count * area, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                &kernel->requests[open++]);
    else if (other.left <= k && k < other.left + other.width)
      MPI_Irecv(kernel->a_part + at, count * area, MPI_DOUBLE, rank, 0, MPI_COMM_WORLD,
                &kernel->requests[open++]);
  }
  MPI_Waitall(open, kernel->requests, kernel->statuses);
  MPI_Bcast(kernel->b_part, own.width * area, MPI_DOUBLE, root_of(kernel, k), kernel->column);
}

static void multiply(Kernel* kernel, int k) {
  const size_t block = (size_t)kernel->block, columns = (size_t)kernel->own.width * block;
  const double* a = owns_column(kernel, k) ? kernel->packed : kernel->a_part;
  for (size_t i = 0; i < (size_t)kernel->own.height * block; ++i)
    for (size_t j = 0; j < block; ++j) {
      const double factor = a[i * block + j];
      const double* restrict b = kernel->b_part + j * columns;
      double* restrict c = kernel->c + i * columns;
      for (size_t at = 0; at < columns; ++at) c[at] += factor * b[at];
    }
}

// Elements of C that differ from the plain product, on all processes.
static long count_errors(const Kernel* kernel) {
  const long block = kernel->block, size = kernel->partition->blocks * block;
  const long rows = kernel->own.height * block, columns = kernel->own.width * block;
  double* line = allocate((size_t)columns);
  long wrong = 0;
  for (long i = 0; i < rows; ++i) {
    memset(line, 0, (size_t)columns * sizeof(double));
    for (long k = 0; k < size; ++k) {
      const double factor = element_of_a(kernel->own.top * block + i, k);
      for (long j = 0; j < columns; ++j) line[j] += factor * element_of_b(k, kernel->own.left * block + j);
    }
    for (long j = 0; j < columns; ++j) wrong += line[j] != kernel->c[i * columns + j];
  }
  free(line);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return wrong;
}

static double slowest(double seconds) {
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return seconds;
}

// One multiplication. Returns the seconds of the slowest process; *in_messages: its longest time in messages.
static double run(Kernel* kernel, int with_product, double* in_messages) {
  double messages = 0;
  if (with_product)
    memset(kernel->c, 0,
           (size_t)kernel->own.height * kernel->own.width * kernel->block * kernel->block * sizeof(double));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int k = 0; k < kernel->partition->blocks; ++k) {
    if (with_product) pack(kernel, k);
    const double before = MPI_Wtime();
    communicate(kernel, k);
    messages += MPI_Wtime() - before;
    if (with_product) multiply(kernel, k);
  }
  const double seconds = MPI_Wtime() - begin;
  *in_messages = slowest(messages);
  return slowest(seconds);
}

typedef struct {
  const char* partition;
  int block, repetitions, products, check, returns;
} Options;

static Options read_options(int argc, char** argv) {
  Options options = {.block = 4, .repetitions = 5, .products = 1, .check = 1};
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "--partition"))
      options.partition = value, ++i;
    else if (!strcmp(argv[i], "--block"))
      options.block = atoi(value), ++i;
    else if (!strcmp(argv[i], "--repetitions"))
      options.repetitions = atoi(value), ++i;
    else if (!strcmp(argv[i], "--output"))
      ++i;  // the result is printed
    else if (!strcmp(argv[i], "--products"))
      options.products = atoi(value), ++i;
    else if (!strcmp(argv[i], "--no-check"))
      options.check = 0;
    else if (!strcmp(argv[i], "--return"))
      options.returns = 1;
    else
      fail("unknown option; give --partition TEXT [--block B] [--repetitions R] [--products N] [--no-check]");
  }
  if (!options.partition) fail("--partition is missing");
  if (options.block < 1 || options.block > 1024) fail("--block must be from 1 to 1024");
  if (options.repetitions < 1 || options.repetitions > 10000) fail("--repetitions must be from 1 to 10000");
  return options;
}

static void print_list(char* text, const char* name, const double* values, int count) {
  sprintf(text + strlen(text), "\"%s\": [", name);
  for (int i = 0; i < count; ++i) sprintf(text + strlen(text), "%s%.9g", i ? ", " : "", values[i]);
  strcat(text, "], ");
}

// `--return`: a line that the launching command reads, with the JSON as a JSON string.
static void print(const char* text, int returns) {
  if (!returns) {
    printf("%s\n", text);
    return;
  }
  printf("result \"");
  for (; *text; ++text) printf(*text == '"' ? "\\%c" : "%c", *text);
  printf("\"\n");
}

// The node of each process, numbered by its lowest rank.
static void find_nodes(int* nodes, int procs) {
  MPI_Comm node;
  int rank, lowest;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  lowest = rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Bcast(&lowest, 1, MPI_INT, 0, node);
  MPI_Comm_free(&node);
  MPI_Allgather(&lowest, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD);
  int number_of[MOST], known = 0;
  for (int i = 0; i < procs; ++i) {
    if (nodes[i] == i) number_of[i] = known++;
    nodes[i] = number_of[nodes[i]];
  }
}

int main(int argc, char** argv) {
  int rank, procs, nodes[MOST];
  long wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &procs);
  const Options options = read_options(argc, argv);
  const Partition partition = read_partition(options.partition, procs);
  find_nodes(nodes, procs);
  Kernel kernel = make(&partition, rank, options.block, options.products > 0);
  const int runs = options.repetitions;
  double *alone = allocate((size_t)runs), *in_messages = allocate((size_t)runs),
         *seconds = allocate((size_t)runs), unused;
  run(&kernel, 0, &unused);
  for (int i = 0; i < runs; ++i) alone[i] = run(&kernel, 0, &unused);
  for (int i = 0; i < options.products; ++i) seconds[i] = run(&kernel, 1, &in_messages[i]);
  const int checked = options.products > 0 && options.check;
  if (checked) wrong = count_errors(&kernel);
  if (rank == 0) {
    char* text = malloc(4096 + 64 * (size_t)runs + 8 * (size_t)procs);
    sprintf(text, "{\"blocks\": %d, \"block\": %d, \"procs\": %d, ", partition.blocks, options.block, procs);
    print_list(text, "communication", alone, runs);
    print_list(text, "in_messages", in_messages, options.products);
    print_list(text, "seconds", seconds, options.products);
    strcat(text, "\"nodes\": [");
    for (int i = 0; i < procs; ++i) sprintf(text + strlen(text), "%s%d", i ? ", " : "", nodes[i]);
    sprintf(text + strlen(text), "], \"wrong\": %ld, \"checked\": %s}", wrong, checked ? "true" : "false");
    print(text, options.returns);
    free(text);
  }
  free(alone), free(in_messages), free(seconds);
  destroy(&kernel);
  MPI_Finalize();
  return wrong ? 1 : 0;
}
