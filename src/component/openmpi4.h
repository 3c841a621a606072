/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of the component for Open MPI 4.1. */
#pragma once

#include <ompi_config.h>

/* The next header includes ompi/op/op.h for this name alone, and that one a header that is not installed. */
#define OMPI_OP_H
typedef struct ompi_op_t ompi_op_t;
#include <ompi/mca/coll/base/coll_base_util.h>

/* Stand-ins for MPI_Grequest_start and MPI_Grequest_complete: Open MPI keeps datatypes and operators in the
 * requests of its collectives, for which generalised requests have no room. */
int convene_request_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                          MPI_Grequest_cancel_function* cancel, void* context, MPI_Request* request);
int convene_request_complete(MPI_Request request);

/* Stand-in for MPI_Start, which starts the receive that represents a persistent operation. */
int convene_request_start_receive(MPI_Request* receive);

/* Completes the request that a non-blocking collective of the runtime has returned: the communicator of a
 * request of Convene's. */
void convene_request_set_comm(MPI_Request request, MPI_Comm comm);
/* Replaces the receive of a persistent operation of Convene's by a request of the component, which keeps the
 * operator (MPI_OP_NULL: none). A native request stays. Returns MPI's code. */
int convene_request_wrap(MPI_Request* request, MPI_Comm comm, MPI_Op op);
