// SPDX-License-Identifier: BSD-3-Clause
// The list of cost models, in the order of help and tables. Each model X has a source file, which defines
// X_model.
#pragma once

#define CONVENE_COST_MODELS(X) \
  X(hockney)                   \
  X(logp)                      \
  X(loggp)                     \
  X(loggps)                    \
  X(logfp)                     \
  X(plogp)                     \
  X(lognp)                     \
  X(taulop)
