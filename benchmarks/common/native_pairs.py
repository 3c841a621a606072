# SPDX-License-Identifier: BSD-3-Clause
"""Algorithms that Convene and an MPI have under different names."""

# By stack and collective: Convene's name, and the MPI's name for the same.
PAIRS: dict[str, dict[str, dict[str, str]]] = {
    "openmpi5": {
        "gather": {"linear": "basic_linear", "linear_sync": "linear_sync", "binomial": "binomial"},
        "scatter": {"linear": "basic_linear", "binomial": "binomial"},
        "bcast": {
            "linear": "basic_linear",
            "binomial": "binomial",
            "knomial": "knomial",
            "scatter_allgather": "scatter_allgather",
        },
        "alltoall": {"linear": "linear", "pairwise": "pairwise", "bruck": "modified_bruck"},
        "barrier": {
            "recursive_doubling": "recursive_doubling",
            "dissemination": "bruck",
            "tournament": "tree",
        },
        "reduce": {"linear": "linear", "binomial": "binomial", "butterfly": "rabenseifner"},
        "allreduce": {
            "recursive_doubling": "recursive_doubling",
            "ring": "ring",
            "rabenseifner": "rabenseifner",
            "reduce_bcast": "nonoverlapping",
        },
        "reduce_scatter": {"recursive_halving": "recursive_halving", "ring": "ring"},
        "scan": {"recursive_doubling": "recursive_doubling"},
    },
    "mpich5": {
        "allgather": {"ring": "ring", "recursive_doubling": "recursive_doubling", "bruck": "brucks"},
        "gather": {"binomial": "binomial"},
        "scatter": {"binomial": "binomial"},
        "bcast": {"binomial": "binomial", "scatter_allgather": "scatter_recursive_doubling_allgather"},
        "alltoall": {"bruck": "brucks", "pairwise": "pairwise"},
        "barrier": {"dissemination": "k_dissemination"},
        "reduce": {"binomial": "binomial", "butterfly": "reduce_scatter_gather"},
        "allreduce": {
            "recursive_doubling": "recursive_doubling",
            "rabenseifner": "reduce_scatter_allgather",
            "ring": "ring",
        },
        "reduce_scatter": {"pairwise": "pairwise", "recursive_halving": "recursive_halving"},
        "scan": {"recursive_doubling": "recursive_doubling"},
    },
}
