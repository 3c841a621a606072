# SPDX-License-Identifier: BSD-3-Clause
"""Slurm with several nodes on one machine, a slurmd for each.

Those of the partition `machine` share its name and memory: MPICH 4.0 may hang in MPI_Finalize between hosts.
Those of `hosts` have their own: Open MPI's ranks of one host name expect a common memory."""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "salloc", "unshare")

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
{more}
"""
NODE = "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 State=UNKNOWN\n"
PARTITION = "PartitionName={name} Nodes={nodes} Default={default} State=UP\n"
MACHINE = ("m0", "m1")
HOSTS = ("h0", "h1")
NAMESPACES = ("unshare", "--mount", "--uts", "--ipc", "sh", "-c")


def missing() -> str:
    """Why no Slurm can run here; empty if it can."""
    for program in PROGRAMS:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    return "" if os.geteuid() == 0 else "nodes of Slurm with host names of their own need root"


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Slurm:
    """`settings` are further lines of slurm.conf."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder = folder
        self.configuration = folder / "slurm.conf"
        self.processes: list[subprocess.Popen[bytes]] = []
        host = socket.gethostname().partition(".")[0]
        names = MACHINE + HOSTS
        ports = free_ports(len(names) + 1)
        text = CONFIGURATION.format(host=host, ports=ports, folder=folder, more=settings)
        for name, port in zip(names, ports[1:], strict=True):
            text += NODE.format(name=name, host=host, port=port)
        for name, nodes, default in (("machine", MACHINE, "YES"), ("hosts", HOSTS, "NO")):
            text += PARTITION.format(name=name, nodes=",".join(nodes), default=default)
        (folder / "state").mkdir()
        self.configuration.write_text(text)
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        try:
            self.start("slurmctld", "-D")
            for name in MACHINE:
                self.start("slurmd", "-D", "-N", name)
            for name in HOSTS:
                own = f"hostname {name}; mount --make-rprivate /; mount -t tmpfs tmpfs /dev/shm"
                self.start(*NAMESPACES, f"{own}; exec slurmd -D -N {name}")
            self.wait(len(names))
        except BaseException:
            self.stop()
            raise

    def environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self.configuration)}

    def start(self, *command: str) -> None:
        with (self.folder / f"{command[0]}.{len(self.processes)}.out").open("wb") as said:
            self.processes.append(
                subprocess.Popen(
                    command,
                    env=self.environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=subprocess.STDOUT,
                )
            )

    def wait(self, nodes: int) -> None:
        """Until all nodes can take jobs."""
        end = time.monotonic() + 300
        said = ""
        while time.monotonic() < end:
            done = self.run("sinfo", "-h", "-N", "-o", "%t")
            said = done.stdout + done.stderr
            if done.stdout.split() == ["idle"] * nodes:
                return
            time.sleep(0.2)
        raise RuntimeError(f"the nodes of Slurm are not ready: {said}")

    def run(self, *command: object, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Runs a command of the submitting machine, in the folder."""
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.folder,
            env={**self.environment(), **variables},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
