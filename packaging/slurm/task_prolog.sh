#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# TaskProlog of Slurm: loads Convene into the programs of every job step, and collects their profiles by job.
# Set these; slurm.conf names the file: TaskProlog=/etc/slurm/convene.sh
lib=/opt/convene/lib/python3.11/site-packages/convene/lib # the drop-in libraries
stack=mpich                                               # the MPI of the programs: openmpi, mpich or abi
profiles=/scratch/convene                                 # a directory that all nodes share and all users can write

# What the user chose is kept.
[ "$CONVENE" != off ] && [ -z "$LD_PRELOAD" ] || exit 0
mkdir -p "$profiles/$SLURM_JOB_ID" || exit 0
echo "export LD_PRELOAD=$lib/libconvene-preload-$stack.so"
echo "export CONVENE_PROFILE_DIR=$profiles/$SLURM_JOB_ID"
