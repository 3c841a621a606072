# SPDX-License-Identifier: BSD-3-Clause
"""How well the models predict collectives here: parameters and collectives measured in the same runs.

For each number of ranks one run of the measuring program takes observations for the parameters and of the
collectives, in the same rounds. Every model then predicts the collectives from those parameters alone. The
proportional error of a prediction e of a measured time r is max(r, e)/min(r, e); the tables have its mean
over sizes and runs. Writes JSON, and tables as Markdown.
"""

import json
import os
from statistics import fmean
from typing import Any

import numpy as np
from convene import _core
from convene.base import parsing
from convene.model import measurement
from convene.model.measurement import Effort, Request
from convene.model.platform_types import MeasuredPlatform, Observed
from convene.mpi import settings

from benchmarks import common

ALGORITHMS = (
    "bcast=binomial",
    "scatter=binomial",
    "gather=binomial",
    "allgather=ring",
    "allgather=recursive_doubling",
    "allgather=bruck",
    "allgather=neighbor_exchange",
    "allgather=sparbit",
    "alltoall=pairwise",
    "reduce=binomial",
    "reduce=butterfly",
)
# LogP and LogfP ignore how large a message is, so there is no sense in asking them about large ones.
MODELS = ("hockney", "loggp", "loggps", "plogp", "lognp", "taulop")
SIZES = "8KiB:2MiB:4"


def proportional(measured: float, predicted: float) -> float:
    return max(measured, predicted) / min(measured, predicted)


def predict(
    machine: str, platform: _core.ModelPlatform, nodes: list[int], use: str, model: str, sizes: list[int]
) -> list[float]:
    collective, _, algorithm = use.partition("=")
    spec = _core.spec(collective, algorithm)
    request = _core.ScheduleRequest(
        collective=collective,
        spec=spec,
        procs=len(nodes),
        machine=machine,
        placement=",".join(map(str, nodes)),
    )
    return _core.predict(request, platform, model, sizes)


def compare(raw: Observed, platform: MeasuredPlatform) -> list[dict[str, Any]]:
    """One row for each algorithm: what was measured, and under each model what was predicted."""
    parsed = _core.ModelPlatform(json.dumps(platform), "measured")
    models = [model for model in MODELS if model in parsed.facts()["models"]]
    rows = []
    for one in raw["series"]:
        if one["operation"] != "collective":
            continue
        measured = [float(np.median(point["seconds"])) for point in one["points"]]
        sizes = [point["bytes"] for point in one["points"]]
        nodes = raw["nodes"][: one["tau"]]
        predicted = {
            model: predict(platform["machine"], parsed, nodes, one["algorithm"], model, sizes)
            for model in models
        }
        errors = {model: fmean(map(proportional, measured, times)) for model, times in predicted.items()}
        rows.append(
            {
                "procs": one["tau"],
                "algorithm": one["algorithm"],
                "sizes": sizes,
                "measured": measured,
                "predicted": predicted,
                "error": errors,
            }
        )
    return rows


def ranking(rows: list[dict[str, Any]], collective: str, model: str) -> dict[str, float] | None:
    """How often the predicted winner is the measured one, and what following the prediction costs."""
    mine = [
        row for row in rows if row["algorithm"].startswith(f"{collective}=") and model in row["predicted"]
    ]
    # With two ranks all allgathers are the same exchange.
    if len(mine) < 2 or mine[0]["procs"] < 3:
        return None
    hits, losses = [], []
    for i in range(len(mine[0]["measured"])):
        best = min(mine, key=lambda row: row["measured"][i])
        chosen = min(mine, key=lambda row: row["predicted"][model][i])
        hits.append(chosen is best)
        losses.append(chosen["measured"][i] / best["measured"][i])
    return {"hits": fmean(hits), "cost": fmean(losses)}


def line_of(row: dict[str, Any], models: list[str]) -> str:
    name = row["algorithm"].replace("=", ", ").replace("_", " ")
    return f"| {name} | " + " | ".join(f"{row['error'][m]:.2f}" for m in models) + " |"


def means_of_runs(rows: list[dict[str, Any]], model: str) -> list[float]:
    """The mean of these algorithms in each run."""
    return [fmean(errors) for errors in zip(*(row["errors"][model] for row in rows), strict=True)]


def as_text(result: dict[str, Any]) -> str:
    parts = []
    for run in result["runs"]:
        rows = run["rows"]
        models = [model for model in MODELS if model in rows[0]["error"]]
        times = f", {run['repeated']} runs" if run["repeated"] > 1 else ""
        crowd = ", more than there are cores" if run["procs"] > result["cores"] else ""
        nodes = f" on {run['nodes']} nodes" if run["nodes"] > 1 else ""
        parts.append(f"{run['procs']} ranks{nodes}{crowd}{times}:\n")
        parts.append(f"| algorithm | {' | '.join(models)} |")
        parts.append("|---|" + "---:|" * len(models))
        messages = [row for row in rows if not row["algorithm"].endswith("=shared")]
        parts += [line_of(row, models) for row in messages]
        means = [fmean(row["error"][m] for row in messages) for m in models]
        parts.append("| *mean* | " + " | ".join(f"*{mean:.2f}*" for mean in means) + " |")
        if run["repeated"] > 1:
            spread = [means_of_runs(messages, model) for model in models]
            ends = " | ".join(f"{min(each):.2f} … {max(each):.2f}" for each in spread)
            parts.append(f"| means of single runs | {ends} |")
        # Those without messages come behind: most models have no words for them.
        parts += [line_of(row, models) for row in rows if row not in messages]
        if run["ranking"]:
            found = [run["ranking"][m] for m in models]
            hits = " | ".join(f"{one['hits']:.0%}" for one in found)
            costs = " | ".join(f"{one['cost'] - 1:.0%}" for one in found)
            parts.append(f"| allgather's winner found | {hits} |")
            parts.append(f"| following the prediction costs | {costs} |")
        parts.append("")
    return "\n".join(parts)


def summarize(raw: dict[str, Any]) -> dict[str, Any]:
    """Errors of each run and their means, and medians over runs of the measured times."""

    def row_of(row: dict[str, Any]) -> dict[str, Any]:
        measured = np.median([run["measured"] for run in row["runs"]], axis=0)
        kept = {name: row[name] for name in ("algorithm", "sizes", "errors", "error")}
        return {**kept, "seconds": [float(each) for each in measured]}

    def run_of_summary(run: dict[str, Any]) -> dict[str, Any]:
        kept = {name: run[name] for name in ("procs", "nodes", "repeated", "ranking")}
        return {**kept, "rows": [row_of(row) for row in run["rows"]]}

    return {
        "cores": raw["cores"],
        "environment": raw["runs"][0]["environment"],
        "runs": [run_of_summary(run) for run in raw["runs"]],
    }


def together(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Runs with the same ranks as one: means of their errors, and each run's own."""
    rows = []
    for same in zip(*(run["rows"] for run in runs), strict=True):
        models = [model for model in same[0]["error"] if all(model in row["error"] for row in same)]
        errors = {model: [row["error"][model] for row in same] for model in models}
        rows.append(
            {
                "procs": same[0]["procs"],
                "algorithm": same[0]["algorithm"],
                "sizes": same[0]["sizes"],
                "runs": [{key: row[key] for key in ("measured", "predicted")} for row in same],
                "errors": errors,
                "error": {model: fmean(each) for model, each in errors.items()},
            }
        )
    ranking = {
        model: {key: fmean(run["ranking"][model][key] for run in runs) for key in ("hits", "cost")}
        for model in runs[0]["ranking"]
        if all(model in run["ranking"] for run in runs)
    }
    return {**runs[0], "repeated": len(runs), "rows": rows, "ranking": ranking}


def run_of(
    setting: settings.Setting, procs: int, effort: Effort, sizes: list[int], algorithms: tuple[str, ...]
) -> dict[str, Any]:
    request = Request(
        procs,
        effort,
        collectives=algorithms,
        collective_procs=(procs,),
        collective_sizes=tuple(sizes),
    )
    raw = measurement.run(setting, request)
    platform = measurement.platform(raw, request, f"here, {procs} ranks", resamples=50)
    rows = compare(raw, platform)
    found = {model: ranking(rows, "allgather", model) for model in MODELS}
    return {
        "procs": procs,
        "nodes": len(set(raw["nodes"])),
        "environment": raw["environment"],
        "rows": rows,
        "ranking": {model: one for model, one in found.items() if one},
    }


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--procs", default="2,4,8", help="numbers of ranks (default: 2,4,8)")
    parser.add_argument("--rounds", type=int, default=25, help="observations of each point (default: 25)")
    parser.add_argument(
        "--repeat", type=int, default=1, help="runs, each with parameters of its own (default: 1)"
    )
    parser.add_argument("--sizes", default=SIZES, help=f"as of convene bench (default: {SIZES})")
    parser.add_argument("--largest", default="16MiB", help="of the messages that parameters come from")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="COLLECTIVE=ALGORITHM",
        help="a further one, such as bcast=shared, which needs all ranks on one node",
    )
    parser.add_argument("--launcher", help="the MPI's launcher (default: mpirun)")
    parser.add_argument("--stack", help="the MPI stack, if the launcher serves several")
    options = parser.parse_args()
    effort = Effort(rounds=options.rounds, seconds=0, points=28, largest=_core.size(options.largest))
    setting = measurement.find_setting(options.launcher, options.stack)
    sizes = parsing.parse_sizes(options.sizes)
    algorithms = (*ALGORITHMS, *options.also)
    if options.repeat < 1:
        parser.error(f"--repeat {options.repeat}: there must be at least one run")
    runs = [
        together([run_of(setting, int(procs), effort, sizes, algorithms) for _ in range(options.repeat)])
        for procs in options.procs.split(",")
    ]
    raw = {"cores": os.cpu_count(), "runs": runs}
    common.keep(options, "model_accuracy", summarize(raw), raw)


REPORT = common.Report(as_text)


if __name__ == "__main__":
    common.run(main)
