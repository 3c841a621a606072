# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing of readers: C++ targets for libFuzzer, and a mutation loop for files that the command reads."""
