#%Module1.0
## SPDX-License-Identifier: BSD-3-Clause
## Module of Convene for Environment Modules: copy it as MODULEPATH/convene/VERSION and set these.
set prefix  /opt/convene   ;# the Python environment into which the package was installed
set python  python3.11     ;# its version
set preload {}             ;# openmpi, mpich or abi: load the library into every program; empty: do not
set wisdom  {}             ;# a wisdom file for all users; empty: /etc/convene/wisdom.json, if it is there

proc ModulesHelp {} {
  puts stderr "MPI collectives for unmodified programs. Start one by `convene run -- mpirun -n 64 ./app`."
  puts stderr "CONVENE=off switches the library off."
}
module-whatis "locality-aware, arrival-aware and model-driven MPI collectives"

set package $prefix/lib/$python/site-packages/convene
prepend-path PATH $prefix/bin
setenv CONVENE_ROOT $package
if {$preload ne {}} {
  prepend-path LD_PRELOAD $package/lib/libconvene-preload-$preload.so
}
if {$wisdom ne {}} {
  setenv CONVENE_WISDOM $wisdom
}
