# SPDX-License-Identifier: BSD-3-Clause
"""Types of fitted parameters, as the models name them; times in seconds."""

from typing import NotRequired, TypedDict

from convene.model.measured_series import Curve

Table = dict[int, Curve]  # by the number of simultaneous transfers


class Hockney(TypedDict):
    alpha: float
    beta: float


class LogGP(TypedDict):
    L: float
    o: float
    g: float
    G: float
    S: NotRequired[int]


class PLogP(TypedDict):
    L: float
    o_s: Curve
    o_r: Curve
    g: Curve


class LogfP(TypedDict):
    L: float
    g: float
    f: int
    o_s: Curve
    o_r: Curve


class LogNP(TypedDict):
    transfers: list[Curve]


class TauLop(TypedDict):
    o: float | Curve
    transport: str
    L: Table
    L_c: NotRequired[Table]  # copies through shared memory
    L_sr: NotRequired[Table]  # exchanges


class Channel(TypedDict):
    hockney: Hockney
    loggp: LogGP
    logfp: LogfP
    plogp: PLogP
    lognp: LogNP
    taulop: TauLop


class FittedPacking(TypedDict, total=False):
    packing: Curve


class Fitted(FittedPacking):
    """All parameters, in the structure of a platform file's model; older raw files have no packing."""

    copy: Table
    computation: Table
    channels: dict[str, Channel]
