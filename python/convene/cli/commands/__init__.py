# SPDX-License-Identifier: BSD-3-Clause
"""One module for each command. Each has `register(app)`, which adds the command to the application."""
