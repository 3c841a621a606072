# SPDX-License-Identifier: BSD-3-Clause
"""One module a command. Each has `register(app)`, which adds the command to the Typer application."""
