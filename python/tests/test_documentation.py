# SPDX-License-Identifier: BSD-3-Clause
"""Pages of the documentation, as the settings of docs/conf.py make them."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

CONF = Path(__file__).resolve().parents[2] / "docs" / "conf.py"


def test_options_keep_their_hyphens(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    (tmp_path / "index.md").write_text("# Page\n\nWithout --use, all are native.\n")
    action = runpy.run_path(str(CONF)).get("smartquotes_action", "qDe")
    settings = ["-C", "-D", "extensions=myst_parser", "-D", f"smartquotes_action={action}"]
    out = tmp_path / "out"
    subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-b", "html", *settings, str(tmp_path), str(out)], check=True
    )
    assert "Without --use, all are native." in (out / "index.html").read_text()
