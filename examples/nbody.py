# SPDX-License-Identifier: BSD-3-Clause
"""Gravity between bodies, each rank with its own share of them: an ordinary mpi4py program.

In every step each rank needs the positions of all bodies, so every step has an allgather. Where the ranks'
shares are equal it is an MPI_Allgather, else an MPI_Allgatherv. The program knows nothing of Convene.

    mpirun -n 8 python examples/nbody.py --bodies 1000 --steps 200
"""

import argparse
import hashlib
import json
import sys
import time

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

Vectors = NDArray[np.float64]

SOFTENING = 0.05  # keeps close encounters finite, in units of the cluster's radius
TIME_STEP = 1e-3


def shares(bodies: int, ranks: int) -> list[int]:
    """How many bodies each rank has: as equal as can be."""
    return [bodies // ranks + (rank < bodies % ranks) for rank in range(ranks)]


def cluster(bodies: int) -> tuple[Vectors, Vectors]:
    """Positions and velocities of a cold ball of bodies, the same on every rank."""
    random = np.random.default_rng(2024)
    direction = random.normal(size=(bodies, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    positions = direction * np.cbrt(random.random((bodies, 1)))
    return positions, 0.1 * random.normal(size=(bodies, 3))


def attraction(mine: Vectors, everyone: Vectors) -> tuple[Vectors, float]:
    """Acceleration of my bodies, and their part of the potential energy; all masses are 1/N, G = 1."""
    offset = everyone[None, :, :] - mine[:, None, :]
    inverse = 1.0 / np.sqrt((offset**2).sum(axis=2) + SOFTENING**2)
    mass = 1.0 / len(everyone)
    # A body's pull on itself is zero in the acceleration, but not in the potential.
    potential = -0.5 * mass * mass * float(inverse.sum() - len(mine) / SOFTENING)
    return mass * np.einsum("ij,ijk->ik", inverse**3, offset), potential


class Simulation:
    """Leapfrog steps over the bodies of one rank."""

    def __init__(self, communicator: MPI.Comm, bodies: int) -> None:
        self.communicator = communicator
        self.counts = shares(bodies, communicator.size)
        first = sum(self.counts[: communicator.rank])
        here = slice(first, first + self.counts[communicator.rank])
        positions, velocities = cluster(bodies)
        self.positions = np.ascontiguousarray(positions[here])
        self.velocities = np.ascontiguousarray(velocities[here])
        self.everyone = np.empty((bodies, 3))
        self.waited = 0.0
        self.gather()
        self.acceleration, self.potential = attraction(self.positions, self.everyone)

    def gather(self) -> None:
        """Everyone's positions to everyone."""
        begin = time.perf_counter()
        if len(set(self.counts)) == 1:
            self.communicator.Allgather(self.positions, self.everyone)
        else:
            self.communicator.Allgatherv(
                self.positions, (self.everyone, [3 * count for count in self.counts])
            )
        self.waited += time.perf_counter() - begin

    def step(self) -> None:
        self.velocities += 0.5 * TIME_STEP * self.acceleration
        self.positions += TIME_STEP * self.velocities
        self.gather()
        self.acceleration, self.potential = attraction(self.positions, self.everyone)
        self.velocities += 0.5 * TIME_STEP * self.acceleration

    def energy(self) -> float:
        """Of all bodies. Ranks are added up in their order, so that it is the same number in every run."""
        kinetic = 0.5 * float((self.velocities**2).sum()) / len(self.everyone)
        return float(sum(self.communicator.allgather(kinetic + self.potential)))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bodies", type=int, default=600)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of text")
    options = parser.parse_args()

    world = MPI.COMM_WORLD
    if options.bodies < world.size:
        if world.rank == 0:
            print(
                f"{options.bodies} bodies are too few for {world.size} ranks: give --bodies", file=sys.stderr
            )
        return 2
    begin = time.perf_counter()
    simulation = Simulation(world, options.bodies)
    before = simulation.energy()
    for _ in range(options.steps):
        simulation.step()
    after = simulation.energy()
    seconds = time.perf_counter() - begin
    waited = max(world.allgather(simulation.waited))

    if world.rank == 0:
        result = {
            "ranks": world.size,
            "bodies": options.bodies,
            "steps": options.steps,
            "call": "MPI_Allgather" if len(set(simulation.counts)) == 1 else "MPI_Allgatherv",
            "residual": abs(after - before) / abs(before),
            "checksum": hashlib.sha256(simulation.everyone.tobytes()).hexdigest()[:12],
            "seconds": seconds,
            "seconds in allgather": waited,
        }
        if options.json:
            print(json.dumps(result))
        else:
            print(f"{options.bodies} bodies, {options.steps} steps, {world.size} ranks, by {result['call']}")
            print(f"relative change of energy {result['residual']:.3e}")
            print(f"checksum of the positions {result['checksum']}")
            print(f"{seconds:.3f} s, of these {waited:.3f} s in allgather")
    return 0


if __name__ == "__main__":
    sys.exit(main())
