# SPDX-License-Identifier: BSD-3-Clause
"""Contenders of a comparison: algorithms of Convene, native, mpi:NAME, intercepted."""

from convene import _core
from convene._core import RequestError
from convene.base import parsing
from convene.catalogue.algorithms import uses_forecast

NATIVE = "native"
INTERCEPTED = "intercepted"

# Forecasts of arrivals that an algorithm can receive, written behind an @.
FORECASTS = {
    "truth": "the real delays",
    "average": "the mean of each rank's last five",
    "mirrored": "those of the opposite ranks, so a wrong one",
}

OWN = "mpi:"  # before the name of a native algorithm


def choose_algorithms(collective: str, procs: int, text: str) -> list[str]:
    """Algorithms as contenders. "all" stands for those of Convene's that can run on so many ranks, wherever
    these are: without compositions, which need to know the nodes, and those that share memory."""
    chosen: dict[str, None] = {}
    names = parsing.split_names(text)
    if names and "" in (part.strip() for part in text.split(",")):
        raise RequestError(f"'{text}' has an empty name; name an algorithm there, or leave out a comma")
    for name in names:
        if name == "all":
            known = [
                algorithm["name"]
                for algorithm in _core.algorithms(collective)
                if not algorithm["native"] and not algorithm["parts"] and not algorithm["shares_memory"]
            ]
            chosen |= {each: None for each in known if not _core.unmet(collective, each, procs)}
        else:
            chosen[check_contender(collective, procs, name)] = None
    return list(chosen)


def check_use(text: str) -> None:
    """Refuses a --use without an algorithm, such as a shell variable that is not set."""
    if not text.strip(", \n"):
        raise RequestError(
            f"--use '{text}' names no algorithm; give one, as in allgather=ring, or leave it out"
        )


def check_contender(collective: str, procs: int, name: str) -> str:
    """The contender's name in canonical form. Only the MPI itself knows which names may follow "mpi:"."""
    if name == INTERCEPTED or name.startswith(OWN):
        return name
    name, at, forecast = name.partition("@")
    spec = _core.spec(collective, name)
    if at:
        check_forecast(collective, spec, forecast)
    why = _core.unmet(collective, spec, procs)
    if why:
        raise RequestError(
            f"{collective} algorithm {spec} {why}, not {procs}; leave it out, or use another number"
        )
    return spec + at + forecast


def check_forecast(collective: str, spec: str, forecast: str) -> None:
    """Whether an algorithm can be given this forecast of arrivals."""
    if forecast not in FORECASTS:
        raise RequestError(
            _core.no_such("forecast", forecast, list(FORECASTS)) + f" (behind the @ of {collective}={spec}@…)"
        )
    if not uses_forecast(collective, spec):
        known = _core.algorithms(collective)
        users = ", ".join(each["name"] for each in known if each["arrival_source"] == "forecast")
        raise RequestError(
            f"{collective}={spec} uses no forecast; leave out @{forecast}, or use "
            + (f"one that does: {users}" if users else "another collective")
        )
