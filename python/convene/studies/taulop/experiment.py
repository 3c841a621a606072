# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of the τ-Lop thesis: algorithms, sizes and published errors."""

from dataclasses import dataclass

KIB = 1024
MODELS = {"loggp": "LogGPH", "lognp": "m·log_nP", "taulop": "τ-Lop"}
LONG = tuple(8 * KIB * 4**power for power in range(6))  # 8 KiB … 8 MiB
MEDIUM = tuple(4 * KIB * 4**power for power in range(4))  # 4 … 256 KiB
SHORT = (4, 16, 64, 256, 1024, 2048)
SHARED_SEGMENT = 8 * KIB
PUBLISHED_SLOWDOWN = 6.0  # section 6.2: long messages under round-robin mapping
PUBLISHED_RATIOS = {32: 2.61, 64: 2.83, 128: 3.02}  # section 6.1: recursive doubling to binomial scatter


@dataclass(frozen=True)
class Row:
    """One algorithm on one platform. Published: mean proportional errors of LogGP(H), (m·)log_nP and τ-Lop,
    as far as the text states them."""

    where: str
    site: str
    collective: str
    spec: str
    procs: int
    sizes: tuple[int, ...]
    published: tuple[float | None, float | None, float | None] = (None, None, None)
    mapping: str = "sequential"
    segments: bool = False  # one for each 8 KiB
    calibrates: bool = False  # τ-Lop's L is read from this very operation

    def spec_at(self, size: int) -> str:
        return f"{self.spec};segments={max(1, size // SHARED_SEGMENT)}" if self.segments else self.spec


ROWS = (
    Row("figure 4.6", "metropolis", "bcast", "binomial", 8, LONG, (2.36, 1.62, 1.20)),
    Row("figure 4.13", "metropolis", "allgather", "recursive_doubling", 8, LONG),
    Row(
        "figure 4.25", "metropolis", "bcast", "shared", 8, LONG, segments=True,
    ),
    Row("figure 4.29", "metropolis", "reduce", "binomial", 8, SHORT, (4.88, 1.75, 1.35)),
    Row("figure 4.31", "metropolis", "reduce", "butterfly", 8, MEDIUM, (2.50, 1.68, 1.48)),
    Row(
        "figure 4.34", "metropolis", "reduce", "shared", 8, LONG, (3.37, 1.81, 1.24), segments=True,
    ),
    Row("figure 4.37", "metropolis", "reduce", "in_situ", 8, LONG, (None, 1.69, 1.22)),
    Row("figure 4.3", "lusitania", "bcast", "binomial", 128, LONG),
    Row("figure 4.10", "lusitania", "allgather", "recursive_doubling", 128, LONG, (None, 3.48, None)),
    Row("figure 4.16", "lusitania", "allgather", "ring", 128, LONG, (11.94, 3.29, 1.16), calibrates=True),
    Row("figure 4.20", "lusitania", "scatter", "binomial", 128, LONG),
    Row("figure 5.4", "metropolis", "bcast", "binomial", 32, LONG),
    Row("figure 5.9", "metropolis", "allgather", "ring", 32, LONG),
    Row("figure 6.4", "metropolis", "allgather", "ring", 32, LONG, mapping="cyclic", calibrates=True),
    Row("figure 5.13", "metropolis", "allgather", "recursive_doubling", 32, LONG),
    Row("figure 5.15", "metropolis", "bcast", "binomial", 32, LONG, mapping="cyclic"),
)  # fmt: skip

# SUMMA on Fermi, appendix A: columns (width; process and height), nodes of the processes, the printed cost,
# and seconds of communication over Ethernet and InfiniBand.
Columns = list[tuple[int, list[tuple[int, int]]]]


@dataclass(frozen=True)
class Summa:
    name: str
    equation: str
    columns: Columns
    nodes: list[int]
    printed: str
    measured: tuple[float, float]
    difference: str = ""


SUMMA = (
    Summa(
        "Config1", "(A.17), table A.3",
        [(149, [(4, 139), (5, 117)]), (107, [(0, 81), (1, 80), (2, 58), (3, 37)])], [0, 0, 0, 0, 1, 1],
        "3 ∥ T⁰(10752) + 2 ∥ T⁰(44032) + 4 ∥ T¹(3589) + 3 ∥ T¹(2247) + 2 ∥ T¹(19787) + T¹(3385)",
        (99.66, 75.30), "the source prints 3589 for 37 · 107 = 3959",
    ),
    Summa(
        "Config2", "(A.23), table A.7",
        [(124, [(1, 146), (4, 110)]), (97, [(0, 134), (5, 122)]), (35, [(3, 152), (2, 104)])],
        [0, 0, 0, 1, 1, 1],
        "2 ∥ T⁰(26800) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(47300) + T¹(17874)", (148.32, 98.91),
    ),
    Summa(
        "Config2_mod", "(A.33), table A.11",
        [(124, [(1, 146), (4, 110)]), (97, [(0, 134), (5, 122)]), (35, [(2, 104), (3, 152)])],
        [0, 0, 0, 1, 1, 1],
        "2 ∥ T⁰(57064) + T⁰(3654) + 3 ∥ T¹(8960) + 2 ∥ T¹(17036) + T¹(17874)", (131.73, 99.23),
    ),
)  # fmt: skip
