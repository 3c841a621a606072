# SPDX-License-Identifier: BSD-3-Clause
"""Tables and sentences of the τ-Lop study."""

from statistics import fmean

from rich.markup import escape
from rich.table import Table

from convene.base import console
from convene.studies.taulop import expressions
from convene.studies.taulop.experiment import MODELS
from convene.studies.taulop.results import Result


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def errors_table(result: Result) -> Table:
    heads = [*MODELS.values(), *(f"{name}, published" for name in MODELS.values())]
    table = console.table(
        "Mean proportional error of predictions against simulations of the same schedule; published: against "
        "measurements of MPICH, Open MPI and AzequiaMPI. * τ-Lop's L(m, τ) is read from this "
        "operation",
        "figure",
        "algorithm",
        "platform, P",
        *heads,
        numbers=heads,
        optional=("figure", heads[3]),
    )
    for row in result["compared"]:
        mapping = "" if row["mapping"] == "sequential" else ", " + row["mapping"]
        table.add_row(
            row["where"].removeprefix("figure "),
            f"{row['collective']} {row['algorithm']}" + ("*" if row["calibrates"] else ""),
            f"{row['platform']}, {row['procs']}{mapping}",
            *(number(row["errors"][model]) for model in MODELS),
            *(number(row["published"][model]) for model in MODELS),
        )
    return table


def ratios_table(result: Result) -> Table:
    heads = ("published", "simulated", *MODELS.values())
    table = console.table("Ratios of times, mean over sizes", "ratio", *heads, numbers=heads)
    for row in result["ratios"]:
        values = (row["published"], row["simulated"], *row["predicted"].values())
        table.add_row(row["what"], *map(number, values))
    return table


def expressions_table(result: Result) -> Table:
    table = console.table(
        "Printed expressions against the cost that τ-Lop derives from the schedule, evaluated on one machine",
        "equation",
        "algorithm",
        "printed",
        "derived / printed",
        numbers=("derived / printed",),
    )
    for row in result["expressions"]:
        table.add_row(
            row["equation"],
            f"{row['collective']} {row['algorithm']}, P = {row['procs']}",
            escape(row["printed"]),
            "equal" if is_equal(row) else f"{row['ratio']:.3f}",
        )
    return table


def is_equal(row: expressions.ExpressionRow) -> bool:
    return abs(row["ratio"] - 1) < 1e-9


def summa_table(result: Result) -> Table:
    table = console.table(
        "SUMMA on Fermi: printed cost against the derived one; seconds of communication as published (times "
        "cannot be predicted: the source measures no parameters of this machine)",
        "configuration",
        "equation, table",
        "cost",
        "Ethernet",
        "InfiniBand",
        numbers=("Ethernet", "InfiniBand"),
    )
    for row in result["summa"]:
        cost = "equal" if row["agrees"] else row["difference"]
        table.add_row(
            row["config"], row["equation"], cost, f"{row['ethernet']:.2f} s", f"{row['infiniband']:.2f} s"
        )
    return table


def tables(result: Result) -> list[Table]:
    return [errors_table(result), ratios_table(result), expressions_table(result), summa_table(result)]


def sentences(result: Result) -> list[str]:
    predicted = [row for row in result["compared"] if not row["calibrates"]]
    means = {
        model: fmean(row["errors"][model] or 0 for row in predicted if row["errors"][model])
        for model in MODELS
    }
    known = [row for row in result["compared"] if row["published"]["taulop"] and not row["calibrates"]]
    best = sum(
        row["errors"]["taulop"] == min(error for error in row["errors"].values() if error)
        for row in predicted
    )
    equal = sum(map(is_equal, result["expressions"]))
    others = [f"{row['equation']}: {row['difference']}" for row in result["expressions"] if row["difference"]]
    first = result["ratios"][0]
    own = ", ".join(number(row["errors"]["taulop"]) for row in known)
    published = ", ".join(number(row["published"]["taulop"]) for row in known)
    return [
        "Mean proportional error over the rows that calibrate nothing: "
        + ", ".join(f"{name} {means[model]:.2f}" for model, name in MODELS.items())
        + f". τ-Lop has the least error in {best} of {len(predicted)} rows.",
        f"τ-Lop where the source states its error: {own}; published: {published}.",
        f"Round-robin mapping slows the ring {first['simulated']:.1f} times; published: six times for long "
        f"messages. τ-Lop predicts {first['predicted']['taulop']:.1f}, LogGPH "
        f"{first['predicted']['loggp']:.1f}.",
        f"{equal} of {len(result['expressions'])} printed expressions equal the derived ones. "
        + "; ".join(others)
        + ".",
        "The model finds that Config2_mod costs no more than Config2 on every machine (A.34): "
        + ("yes" if result["remapping"] == "≥" else "no")
        + "; published: over Ethernet, yes; over InfiniBand the times differ by 0.3 %.",
    ]
