# SPDX-License-Identifier: BSD-3-Clause
"""The command line: application, shared options, commands."""
