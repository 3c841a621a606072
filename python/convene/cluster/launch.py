# SPDX-License-Identifier: BSD-3-Clause
"""Launching MPI programs in a cluster: launcher agent, host files, variables."""

import os
from collections.abc import Sequence
from pathlib import Path

from convene.cluster.state import Cluster, address_of, host_of

# What launchers call instead of ssh: AGENT [OPTION…] HOST COMMAND…
AGENT = """#!/bin/sh
while :; do
  case $1 in
    -[bcDeFIiJLlmOopRSWw]) shift 2 ;;
    -*) shift ;;
    *) break ;;
  esac
done
host=$1
shift
case $host in
{cases}
  *) echo "convene cluster: there is no node $host" >&2; exit 255 ;;
esac
exec nsenter --target="$node" --mount --net --uts --ipc sh -c "$*"
"""


def write_launch_files(cluster: Cluster) -> None:
    cases = [
        f"  {host_of(node)} | {address_of(node)}) node={process} ;;"
        for node, process in enumerate(cluster.nodes)
    ]
    hosts = [host_of(node) for node in range(cluster.shape.nodes)]
    slots = cluster.shape.slots
    for name, text in {
        "agent": AGENT.format(cases="\n".join(cases)),
        "hosts.openmpi": "".join(f"{host} slots={slots}\n" for host in hosts),
        "hosts.hydra": "".join(f"{host}:{slots}\n" for host in hosts),
    }.items():
        (cluster.folder / name).write_text(text, encoding="utf-8")
    (cluster.folder / "agent").chmod(0o755)


def variables(cluster: Cluster) -> dict[str, str]:
    """What makes the launchers of all MPIs use the nodes. What the user has set stays as it is."""
    agent, openmpi, hydra = (str(cluster.folder / name) for name in ("agent", "hosts.openmpi", "hosts.hydra"))
    own = {
        # Open MPI 4, and 5, whose launcher is PRRTE
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_plm": "rsh",
        "OMPI_MCA_plm_rsh_agent": agent,
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "OMPI_MCA_orte_default_hostfile": openmpi,
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_plm": "ssh",
        "PRTE_MCA_plm_ssh_agent": agent,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        "PRTE_MCA_prte_default_hostfile": openmpi,
        "PRTE_MCA_prte_if_include": "eth0",
        "PRTE_MCA_rmaps_default_mapping_policy": "slot",  # `:oversubscribe` would fill the first node
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        # MPICH and Intel MPI
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": agent,
        "HYDRA_HOST_FILE": hydra,
        "HYDRA_IFACE": "eth0",
        "UCX_NET_DEVICES": "eth0",
        "UCX_TLS": "tcp,self,posix",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
        "I_MPI_HYDRA_BOOTSTRAP": "ssh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent,
        "I_MPI_HYDRA_HOST_FILE": hydra,
        "I_MPI_PIN": "0",
    }
    if cluster.shape.nodes * cluster.shape.slots > (os.cpu_count() or 1):
        # The nodes share this machine's cores: idle ranks must give way.
        own |= {
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
            "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
            "I_MPI_THREAD_YIELD": "2",
        }
    return {name: os.environ.get(name, value) for name, value in own.items()}


def command_line(cluster: Cluster, node: int, command: Sequence[str]) -> list[str]:
    """Command line that runs a command on a machine of the cluster, in the current directory."""
    return cluster.inside("sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *command, node=node)
