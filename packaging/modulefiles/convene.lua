-- SPDX-License-Identifier: BSD-3-Clause
-- Module of Convene for Lmod: copy it as MODULEPATH/convene/VERSION.lua and set these.
local prefix = "/opt/convene"      -- the Python environment into which the package was installed
local python = "python3.11"        -- its version
local preload = ""                 -- openmpi, mpich or abi: load the library into every program; empty: do not
local wisdom = ""                  -- a wisdom file for all users; empty: /etc/convene/wisdom.json, if it is there

help("MPI collectives for unmodified programs. Start one by `convene run -- mpirun -n 64 ./app`.\n" ..
     "CONVENE=off switches the library off.")
whatis("Name: convene")
whatis("Description: locality-aware, arrival-aware and model-driven MPI collectives")

local package = pathJoin(prefix, "lib", python, "site-packages", "convene")
prepend_path("PATH", pathJoin(prefix, "bin"))
setenv("CONVENE_ROOT", package)
if preload ~= "" then
  prepend_path("LD_PRELOAD", pathJoin(package, "lib", "libconvene-preload-" .. preload .. ".so"))
end
if wisdom ~= "" then
  setenv("CONVENE_WISDOM", wisdom)
end
