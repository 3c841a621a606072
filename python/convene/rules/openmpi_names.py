# SPDX-License-Identifier: BSD-3-Clause
"""Names and numbers of Open MPI's collectives and of the algorithms of its component `tuned`.

Those of 4.1 and 5.0 are what `ompi_info --param coll tuned --level 9` prints (4.1.4, 5.0.11).
"""

OPENMPI_4, OPENMPI_5, OPENMPI_6 = "openmpi-4", "openmpi-5", "openmpi-6"
MPIS = {OPENMPI_4: "Open MPI 4.1", OPENMPI_5: "Open MPI 5.0", OPENMPI_6: "Open MPI 6"}

COLLECTIVES = (
    *("allgather", "allgatherv", "allreduce", "alltoall", "alltoallv", "alltoallw", "barrier", "bcast"),
    *("exscan", "gather", "gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter"),
    *("scatterv", "neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall", "neighbor_alltoallv"),
    "neighbor_alltoallw",
)
# Open MPI 6's JSON has no underscore within these.
JSON_NAMES = {"reduce_scatter": "reducescatter", "reduce_scatter_block": "reducescatterblock"}

# From number 1 on; 0 is the fixed decision.
_IN_4: dict[str, str] = {
    "allgather": "linear bruck recursive_doubling ring neighbor two_proc",
    "allgatherv": "default bruck ring neighbor two_proc",
    "allreduce": "basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner",
    "alltoall": "linear pairwise modified_bruck linear_sync two_proc",
    "alltoallv": "basic_linear pairwise",
    "barrier": "linear double_ring recursive_doubling bruck two_proc tree",
    "bcast": "basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather "
    "scatter_allgather_ring",
    "exscan": "linear recursive_doubling",
    "gather": "basic_linear binomial linear_sync",
    "reduce": "linear chain pipeline binary binomial in-order_binary rabenseifner",
    "reduce_scatter": "non-overlapping recursive_halving ring butterfly",
    "reduce_scatter_block": "basic_linear recursive_doubling recursive_halving butterfly",
    "scan": "linear recursive_doubling",
    "scatter": "basic_linear binomial linear_nb",
}
_ADDED_IN_5 = {"allgather": " sparbit", "allgatherv": " sparbit"}

IGNORE = "ignore"  # number 0

# Algorithms that run with exactly two ranks only.
TWO_PROC = "two_proc"

# What the size of a rule is compared with.
UNITS = {
    **dict.fromkeys(
        ("allgather", "alltoall", "gather", "reduce_scatter_block", "scatter"), "datatype * count * ranks"
    ),
    "allgatherv": "datatype * mean count",
    "reduce_scatter": "datatype * sum of the counts",
    **dict.fromkeys(("allreduce", "bcast", "reduce"), "datatype * count"),
    **dict.fromkeys(("scan", "exscan"), "datatype * ranks; the count is ignored"),
    **dict.fromkeys(("barrier", "alltoallv"), "always 0"),
}
ALWAYS_ZERO = ("barrier", "alltoallv")
MOST_OF_TYPE = 64  # bytes of a datatype per rank that a rule of scan may sensibly assume


def algorithms(mpi: str, collective: str) -> list[str]:
    """Names by number; none for a collective whose algorithms cannot be chosen."""
    if collective not in _IN_4:
        return []
    added = "" if mpi == OPENMPI_4 else _ADDED_IN_5.get(collective, "")
    return [IGNORE, *(_IN_4[collective] + added).split()]


def number_of(mpi: str, collective: str, algorithm: str) -> int | None:
    known = algorithms(mpi, collective)
    return known.index(algorithm) if algorithm in known else None


def json_name(collective: str) -> str:
    return JSON_NAMES.get(collective, collective)


def from_json_name(name: str) -> str | None:
    found = {json_name(each): each for each in COLLECTIVES}
    return found.get(name)
