// SPDX-License-Identifier: BSD-3-Clause
// The collectives that a program calls.
#include "interpose/entry.hpp"

#include "runtime/run/collectives.hpp"

CONVENE_COLLECTIVES(CONVENE_NARROW_FORMS, CONVENE_NARROW_FORMS, CONVENE_NARROW_FORMS)
#if CONVENE_LARGE_COUNTS
CONVENE_COLLECTIVES(CONVENE_LARGE_FORMS, CONVENE_LARGE_FORMS, CONVENE_NO_COLLECTIVE)
#endif
