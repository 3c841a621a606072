# SPDX-License-Identifier: BSD-3-Clause
"""Old name of clairvoyant_schedules; it works for one more release."""

from convene.base import console

from benchmarks import clairvoyant_schedules, common

REPORT = clairvoyant_schedules.REPORT

if __name__ == "__main__":
    console.complain(
        "'./dev bench clairvoyant' is now './dev bench clairvoyant_schedules'; 'clairvoyant' is the study "
        "(convene bench study clairvoyant)"
    )
    common.run(clairvoyant_schedules.main)
