# SPDX-License-Identifier: BSD-3-Clause
"""convene info: one page about this machine."""

import re
from pathlib import Path

from convene.info import machine

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
    domains = found["machine"]["numa_domains"]
    assert f"{domains} NUMA domain{'' if domains == 1 else 's'}\n" in text
    assert all(re.fullmatch(r"[\d.]+ [KM]iB", each["size"]) for each in found["machine"]["caches"])


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
