# SPDX-License-Identifier: BSD-3-Clause
# Recipe for Spack: `spack repo create`, then this file as packages/convene/package.py. Set `git` to the
# repository.

from spack.package import *


class Convene(PythonPackage):
    """MPI collective communication that is locality-aware, arrival-aware and model-driven, for unmodified
    programs."""

    git = "file:///path/of/a/clone"

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2:", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("cli11")
    depends_on("mpi")
    depends_on("py-typer@0.12:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-numpy@1.24:", type=("build", "run"))
    depends_on("py-scipy@1.10:", type=("build", "run"))
    depends_on("py-matplotlib@3.6:", type=("build", "run"))

    def patch(self):
        # Spack's MPI takes the place of the package that brings the standard ABI's header.
        filter_file(', "mpich>=5.0.2,<6"', "", "pyproject.toml", string=True)
