# SPDX-License-Identifier: BSD-3-Clause
"""convene info: one page about this machine."""

import re
import subprocess
from pathlib import Path

import pytest
from convene.info import fabric, hwloc, machine, native_choices
from convene.info.native_choices import NativeCall

from .conftest import Convene


def test_a_page_names_machine_and_mpis(convene: Convene) -> None:
    done = convene("info", "--json")
    assert done.status == 0
    found = done.json
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["cma"].startswith(("yes", "no: "))
    assert all(each["family"] and each["launcher"] for each in found["mpis"])
    text = convene("info").out
    assert found["machine"]["processor"] in text
    assert "Wisdom" in text
    assert re.search(rf"^NUMA domains +{found['machine']['numa_domains']}$", text, re.MULTILINE)
    assert all(re.fullmatch(r"[\d.]+ [KM]iB", each["size"]) for each in found["machine"]["caches"])


def test_levels_within_a_node_are_named(
    convene: Convene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a synthetic machine: two sockets with a CPU and an L3 cache each."""
    cpus = tmp_path / "devices" / "system" / "cpu"
    for cpu in ("0", "1"):
        for path, text in (
            ("topology/package_cpus_list", cpu),
            ("cache/index0/level", "3"),
            ("cache/index0/shared_cpu_list", cpu),
        ):
            file = cpus / f"cpu{cpu}" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")
    (cpus / "online").write_text("0-1\n")
    monkeypatch.setenv("CONVENE_SYSFS", str(tmp_path))
    assert convene("info", "--json").json["machine"]["levels"] == {"socket": 2, "numa": 0, "l3": 2}
    assert re.search("^levels within a node +socket:2 l3:2$", convene("info").out, re.MULTILINE)


def test_sizes_of_caches() -> None:
    assert [machine.cache_size(text) for text in ("32K", "1280K", "2M", "")] == [
        "32 KiB",
        "1.25 MiB",
        "2 MiB",
        "",
    ]


def test_a_page_is_drawn(convene: Convene, tmp_path: Path) -> None:
    picture = tmp_path / "machine.svg"
    assert convene("info", "-o", picture).status == 0
    assert picture.read_text().startswith("<svg")
    assert ".svg" in convene("info", "-o", tmp_path / "machine.png").complaint


def test_a_program_without_an_mpi_is_refused(convene: Convene) -> None:
    assert "cannot detect the MPI of true" in convene("info", "true").complaint
    assert "program 'no-such-program' not found" in convene("info", "no-such-program").complaint
    assert "program '' not found" in convene("info", "").complaint


def test_settings_are_listed_without_the_secret(convene: Convene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVENE_USE", "allgather=ring")
    monkeypatch.setenv("CONVENE_RETURN_TOKEN", "secret")
    monkeypatch.setenv("CONVENE_RULES", "/nowhere/rules.json")
    done = convene("info", "--json")
    found = done.json["settings"]
    assert found["CONVENE_USE"] == "allgather=ring"
    assert "/nowhere/rules.json" in found["CONVENE_RULES"]
    assert found["CONVENE_RULES"].startswith("not usable: ")
    assert "secret" not in done.out


def test_damaged_wisdom_is_a_line_of_the_page(
    convene: Convene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "wisdom.json"
    path.write_text("{")
    monkeypatch.setenv("CONVENE_WISDOM", str(path))
    assert convene("info", "--json").json["wisdom"][str(path)].startswith("not used: ")


def test_nodes_are_those_of_the_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SLURM_JOB_NUM_NODES", raising=False)
    hosts = tmp_path / "hosts"
    hosts.write_text("n1\nn1\nn2\n")
    monkeypatch.setenv("PBS_NODEFILE", str(hosts))
    assert machine.nodes() == "2 in this job of PBS"
    hosts.unlink()
    assert machine.nodes() == "unknown: cannot read PBS_NODEFILE (No such file or directory)"
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "3")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-3]")
    assert machine.nodes() == "3 in this job of Slurm (n[1-3])"


def test_hwloc_counts_as_lscpu_does() -> None:
    found = hwloc.read()
    if found is None:
        pytest.skip("hwloc is not installed")
    lines = subprocess.run(["lscpu", "-p=cpu,core,socket"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(",") for line in lines.splitlines() if not line.startswith("#")]
    assert found.threads == len(rows)
    assert found.cores == len({(core, package) for _, core, package in rows})
    assert found.packages == len({package for *_, package in rows})


STAND_IN = """
#include <stdint.h>
struct attributes { void* fabric; char *name, *provider; uint32_t version, api; };
struct info { struct info* next; uint64_t caps, mode; uint32_t format; uint64_t lengths[2];
  void *from, *to, *handle, *tx, *rx, *ep, *domain; struct attributes* fabric; void* nic; };
static struct attributes first = {0, "a", "tcp"}, second = {0, "b", "ofi_hook_perf"};
static struct info last = {.fabric = &second}, head = {.next = &last, .fabric = &first};
uint32_t fi_version(void) { return 3 << 16 | 14; }
int fi_getinfo(uint32_t version, void* a, void* b, uint64_t flags, void* c, struct info** found) {
  *found = &head;
  return flags == 1ull << 54 ? 0 : -1;
}
"""


@pytest.mark.parametrize(
    ("change", "expected"), [("", True), ("for (;;) ;", False), ("__builtin_trap();", False)]
)
def test_providers_of_libfabric(
    change: str, expected: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """From the library that is named. One that hangs or crashes is none."""
    source, library = tmp_path / "fabric.c", tmp_path / "libfabric.so.1"
    source.write_text(STAND_IN.replace("*found = &head;", f"{change} *found = &head;"))
    subprocess.run(["gcc", "-w", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("CONVENE_LIBFABRIC", str(library))
    monkeypatch.setattr(fabric, "SECONDS", 5.0 if expected else 1.0)
    found = fabric.read()
    if not expected:
        assert found is None
        return
    assert found == fabric.Fabric(str(library), "3.14", ["tcp", "ofi_hook_perf"])
    assert fabric.usable(found) == ["tcp"]


TREE = {
    "collective=allgather": {
        "comm_type=inter": {"algorithm=MPIR_Allgather_inter_local": {}},
        "comm_type=intra": {
            "comm_size=pow2": {"total_msg_size<100": {"algorithm=MPIR_Allgather_intra_a": {}}},
            "comm_size<=3": {
                "total_msg_size<=24": {"algorithm=MPIR_Allgather_intra_b": {}},
                "total_msg_size=any": {"algorithm=MPIR_Allgather_intra_c": {}},
            },
            "comm_size=any": {"count<pow2": {"algorithm=MPIR_Allgather_intra_d": {}}},
        },
    },
    "collective=bcast": {"avg_msg_size<=8": {"algorithm=MPIDI_POSIX_mpi_bcast_release_gather": {}}},
}


@pytest.mark.parametrize(
    ("procs", "size", "expected"),
    [(4, 8, "a"), (4, 24, "a"), (3, 8, "b"), (3, 9, "c"), (2, 50, "c"), (5, 24, "d"), (5, 32, "")],
)
def test_a_selection_tree_is_walked(procs: int, size: int, expected: str) -> None:
    found = native_choices.walk(TREE, NativeCall("allgather", procs, size))
    assert native_choices.name_of(found, "allgather") == (expected or "?")


def test_names_of_native_algorithms() -> None:
    found = native_choices.walk(TREE, NativeCall("bcast", 9, 8))
    assert native_choices.name_of(found, "bcast") == "release_gather"
    assert native_choices.walk(TREE, NativeCall("bcast", 9, 9)) == ""


@pytest.mark.parametrize("version", ["4.0.2", "5.0.2"])
def test_native_choices_of_an_installed_mpich(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM", "ring")
    found = native_choices.of_mpich(version, 3)
    if found is None:
        pytest.skip(f"MPICH {version} is not installed")
    assert found.algorithms["allgather"] == ["brucks", "brucks", "ring"]
    assert found.algorithms["bcast"] == ["release_gather"] * 3
    assert all(name != "?" for names in found.algorithms.values() for name in names)
    assert found.changed_by == ["MPIR_CVAR_ALLGATHER_INTRA_ALGORITHM"]
