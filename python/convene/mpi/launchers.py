# SPDX-License-Identifier: BSD-3-Clause
"""Launchers of MPI programs: whose they are, their options, and command lines with the library."""

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from convene._core import RequestError
from convene.mpi.stacks import FAMILIES, GIVE_STACK, SLURM, VERSIONS

LAUNCHER_NAMES = re.compile(r"(mpirun|mpiexec|orterun|prterun)")

# Options of launchers that are followed by values: how many.
VALUES = {
    2: "-mca --mca -gmca --gmca -prtemca --prtemca -pmixmca --pmixmca -genv -env",
    1: """-n --n -np --np -c -x -H -host --host -hosts -f -hostfile --hostfile -machinefile --machinefile
        -map-by --map-by -bind-to --bind-to -rank-by --rank-by -wdir --wdir -wd -path --path -prefix --prefix
        -ppn -perhost -genvlist -envlist -launcher -bootstrap -iface -rmk -outfile-pattern -errfile-pattern
        -output --output -output-filename --output-filename -timeout --timeout -tune --tune -am --am
        -app --app -configfile -personality --personality -display --display""",
}

VALUES_OF = {option: count for count, options in VALUES.items() for option in options.split()}

# Those of srun have one each.
OPTIONS_OF_SRUN = """
    -A --account -B --extra-node-info -C --constraint -c --cpus-per-task -D --chdir -d --dependency
    -e --error -G --gpus -i --input -J --job-name -L --licenses -M --clusters -m --distribution -N
    --nodes -n --ntasks -o --output -p --partition -q --qos -r --relative -S --core-spec -T
    --threads -t --time -W --wait -w --nodelist -x --exclude --cpu-bind --cpu-freq --cpus-per-gpu
    --export --gpu-bind --gpus-per-node --gpus-per-task --gres --het-group --jobid --mem --mem-bind
    --mem-per-cpu --mem-per-gpu --mpi --network --ntasks-per-core --ntasks-per-gpu --ntasks-per-node
    --ntasks-per-socket --open-mode --prolog --epilog --reservation --signal --switches
    --task-epilog --task-prolog --time-min --tres-per-task
"""

# Where results return to, and the secret that admits them. Launchers of the MPICH family would show a value
# on command lines, which all users can read; they pass on their environment anyway.
RETURN_TO, RETURN_TOKEN = "CONVENE_RETURN_TO", "CONVENE_RETURN_TOKEN"
RULES_TEXT = "CONVENE_RULES_TEXT"
RETURN_VARIABLES = (RETURN_TO, RETURN_TOKEN, RULES_TEXT)

VALUES_OF_SRUN = dict.fromkeys(OPTIONS_OF_SRUN.split(), 1)


@dataclass(frozen=True)
class Launcher:
    path: Path
    family: str  # a key of FAMILIES

    @property
    def values(self) -> dict[str, int]:
        """Its options that are followed by values: by how many."""
        return VALUES_OF_SRUN if self.family == SLURM else VALUES_OF


def is_launcher(word: str) -> bool:
    return is_srun(word) or LAUNCHER_NAMES.match(Path(word).name) is not None


def is_srun(word: str) -> bool:
    return Path(word).name == "srun"


def common_place(word: str) -> Path | None:
    """Where all ranks of a launcher of this name can write, as far as that can be known: the nodes of a batch
    system hardly ever share /tmp, and nearly always the working directory. None is the system's place."""
    here = Path.cwd()
    return here if is_srun(word) and os.access(here, os.W_OK) else None


def find_program(word: str) -> Path | None:
    """As the shell would find it."""
    found = shutil.which(word)
    return Path(found) if found else None


def require_program(word: str, what: str = "program", hint: str = "") -> Path:
    """Where a program is. Refuses one that cannot be run, with the reason."""
    if path := find_program(word):
        return path
    if "/" in word and Path(word).is_dir():
        raise RequestError(f"{what} '{word}' is a directory; name an executable file in it")
    if "/" in word and Path(word).exists():
        raise RequestError(f"{what} '{word}' is not executable; run chmod +x {shlex.quote(word)}")
    raise RequestError(f"{what} '{word}' not found{hint}")


def output_of(command: list[str]) -> str:
    """The output of a command; empty if it does not run."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def find_launcher(word: str, wanted: str | None) -> Launcher:
    """The launcher of this name. If its MPI is unknown, the wanted stack decides."""
    path = require_program(
        word,
        "launcher",
        "; install an MPI (apt install openmpi-bin, or pip install mpich), or give the full path of the "
        "launcher",
    )
    if is_srun(word):  # which prints its version only if it reaches its cluster
        return Launcher(path, SLURM)
    said = output_of([str(path), "--version"])
    for words, family in VERSIONS:
        if words in said:
            return Launcher(path, family)
    for family, served in FAMILIES.items():
        if wanted in served:
            return Launcher(path, family)
    raise RequestError(f"{path} --version does not name its MPI; {GIVE_STACK}")


def programs_of(arguments: list[str], values: dict[str, int]) -> list[list[str]]:
    """The programs that a launcher's arguments name, each with its own arguments. (Launchers have hundreds of
    options: a program is the first word that is no option, no known option's value, and can be run.)"""
    return [
        part[start:] for part in split_contexts(arguments) if (start := start_of(part, values)) < len(part)
    ]


def start_of(part: list[str], values: dict[str, int]) -> int:
    """Index of the program among the words; their number if there is none."""
    position = 0
    while position < len(part):
        word = part[position]
        if word.startswith("-"):
            position += 1 + (0 if "=" in word else values.get(word, 0))
        elif find_program(word):
            break
        else:
            position += 1
    return min(position, len(part))


def split_contexts(arguments: list[str]) -> list[list[str]]:
    """mpirun -n 1 a : -n 2 b runs two programs as one."""
    parts: list[list[str]] = [[]]
    for word in arguments:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def preload_value(library: Path) -> str:
    """Convene's library before other preloaded ones."""
    others = os.environ.get("LD_PRELOAD", "")
    return f"{library}:{others}" if others else str(library)


def for_ranks(
    launcher: Launcher, arguments: list[str], library: Path, variables: dict[str, str]
) -> list[str]:
    """The launcher's command line with which the ranks, and not the launcher, get the library. The variables
    must be in the launcher's environment too."""
    preload = preload_value(library)
    if launcher.family not in ("Open MPI", SLURM):
        public = {name: value for name, value in variables.items() if name != RETURN_TOKEN}
        given = [word for name, value in public.items() for word in ("-genv", name, value)]
        return [str(launcher.path), "-genv", "LD_PRELOAD", preload, *given, *arguments]
    # By name only: Open MPI splits values at some characters, and Slurm at commas.
    own = ["-x", f"LD_PRELOAD={preload}", *(word for name in variables for word in ("-x", name))]
    command = [str(launcher.path)]
    for number, part in enumerate(split_contexts(arguments)):
        command += [":"] if number else []
        command += for_srun(part, preload, variables) if launcher.family == SLURM else [*own, *part]
    return command


def for_srun(part: list[str], preload: str, variables: dict[str, str]) -> list[str]:
    """srun passes its whole environment by default; the library is for the ranks only."""
    start = start_of(part, VALUES_OF_SRUN)
    given, others = os.environ.get("SLURM_EXPORT_ENV", "ALL"), list[str]()
    words = iter(part[:start])
    for word in words:
        if word == "--export":
            given = next(words, "")
        elif word.startswith("--export="):
            given = word.removeprefix("--export=")
        else:
            others.append(word)
    handed_on = [] if given in ("NONE", "NIL", "") else [given]
    if not given.startswith("ALL"):
        handed_on += variables  # by name
    return [f"--export={','.join([*handed_on, f'LD_PRELOAD={preload}'])}", *others, *part[start:]]
