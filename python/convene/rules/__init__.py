# SPDX-License-Identifier: BSD-3-Clause
"""Rules of MPI libraries: their files are read, checked and written, and Convene's own are explained."""
