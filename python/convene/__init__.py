# SPDX-License-Identifier: BSD-3-Clause
"""Convene: MPI collectives as schedules. The `convene` command, and the pure layers as `convene._core`."""

from convene._core import version as __version__

__all__ = ["__version__"]
