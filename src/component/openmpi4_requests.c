/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of non-blocking and persistent collectives, for Open MPI 4.1.
 *
 * - After a collective of a component has returned a request, Open MPI keeps datatypes and operators in it
 *   (ompi_coll_base_retain_op and its kin), whatever its kind: it must be a ompi_coll_base_nbc_request_t. The
 *   runtime's generalised requests are such requests here.
 * - A persistent operation of the runtime is represented by a persistent receive from this process itself. It
 *   is inside a request of the component, which Open MPI starts by its function, and whose end is the
 *   receive's.
 * - Open MPI reads a request after it has been freed (its list of objects to release): requests are kept for
 *   later use, and the one that was freed first is used first. */
#include <pthread.h>

#include "component/bridge.h"
#include "component/openmpi4.h"

typedef struct convene_request_t {
  ompi_coll_base_nbc_request_t super;
  MPI_Grequest_query_function* query; /* of the runtime */
  MPI_Grequest_free_function* release;
  void* context;
  MPI_Request receive; /* of a persistent operation, else null */
  MPI_Op op;           /* its operator, which the program may free */
  struct convene_request_t* next;
} convene_request_t;

OBJ_CLASS_DECLARATION(convene_request_t);
OBJ_CLASS_INSTANCE(convene_request_t, ompi_coll_base_nbc_request_t, NULL, NULL);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static convene_request_t *first, *last; /* unused ones */
static __thread convene_request_t* starting;

static convene_request_t* own(MPI_Request request) {
  opal_object_t* const object = (opal_object_t*)request;
  return object && object->obj_class == OBJ_CLASS(convene_request_t) ? (convene_request_t*)request : NULL;
}

static void keep(convene_request_t* request) {
  request->next = NULL;
  pthread_mutex_lock(&mutex);
  if (last)
    last->next = request;
  else
    first = request;
  last = request;
  pthread_mutex_unlock(&mutex);
}

static convene_request_t* take(int is_persistent) {
  convene_request_t* taken;
  pthread_mutex_lock(&mutex);
  taken = first;
  if (taken) first = taken->next;
  if (!first) last = NULL;
  pthread_mutex_unlock(&mutex);
  if (!taken) taken = OBJ_NEW(convene_request_t);
  if (!taken) return NULL;
  ompi_request_t* const request = &taken->super.super;
  OMPI_REQUEST_INIT(request, is_persistent);
  request->req_type = OMPI_REQUEST_COLL;
  request->req_status = ompi_status_empty;
  request->req_start = NULL;
  request->req_cancel = NULL; /* a collective cannot be cancelled */
  request->req_mpi_object.comm = MPI_COMM_WORLD;
  taken->super.cb.req_free = NULL;
  taken->super.req_complete_cb_data = NULL;
  taken->super.data.objs.objs[0] = taken->super.data.objs.objs[1] = NULL;
  taken->query = NULL;
  taken->release = NULL;
  taken->context = NULL;
  taken->receive = MPI_REQUEST_NULL;
  taken->op = MPI_OP_NULL;
  return taken;
}

/* Open MPI may have asked for a callback after the end. */
static void call_back(ompi_request_t* request) {
  const ompi_request_complete_fn_t call = request->req_complete_cb;
  request->req_complete_cb = NULL;
  if (call) call(request);
}

static int release_operation(ompi_request_t** handle) {
  ompi_request_t* const request = *handle;
  convene_request_t* const freed = own(request);
  if (!REQUEST_COMPLETE(request)) return MPI_ERR_REQUEST;
  call_back(request);
  if (freed->release) freed->release(freed->context);
  OMPI_REQUEST_FINI(request);
  *handle = MPI_REQUEST_NULL;
  keep(freed);
  return OMPI_SUCCESS;
}

int convene_request_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* release,
                          MPI_Grequest_cancel_function* cancel, void* context, MPI_Request* request) {
  convene_request_t* const made = take(0);
  (void)cancel;
  if (!made) return MPI_ERR_NO_MEM;
  made->query = query;
  made->release = release;
  made->context = context;
  made->super.super.req_free = release_operation;
  made->super.super.req_state = OMPI_REQUEST_ACTIVE;
  *request = &made->super.super;
  return MPI_SUCCESS;
}

int convene_request_complete(MPI_Request request) {
  convene_request_t* const ended = own(request);
  request->req_status.MPI_ERROR = ended->query(ended->context, &request->req_status);
  return ompi_request_complete(request, true);
}

void convene_request_set_comm(MPI_Request request, MPI_Comm comm) {
  if (own(request)) request->req_mpi_object.comm = comm;
}

static int end_of_receive(ompi_request_t* receive) {
  ompi_request_complete(receive->req_complete_cb_data, true);
  return 0;
}

/* The receive cannot complete yet: the operation sends its message at its end. */
int convene_request_start_receive(MPI_Request* receive) {
  const int code = PMPI_Start(receive);
  if (code != MPI_SUCCESS) return code;
  (*receive)->req_complete_cb_data = starting;
  (*receive)->req_complete_cb = end_of_receive;
  return MPI_SUCCESS;
}

static int start_one(ompi_request_t* request) {
  convene_request_t* const started = own(request);
  convene_request_t* const outer = starting;
  int code = PMPI_Wait(&started->receive, MPI_STATUS_IGNORE); /* of the last run: it has completed */
  if (code != MPI_SUCCESS) return code;
  request->req_status = ompi_status_empty;
  request->req_state = OMPI_REQUEST_ACTIVE;
  request->req_complete = REQUEST_PENDING;
  starting = started;
  code = convene_start_persistent(&started->receive);
  starting = outer;
  if (code != MPI_SUCCESS) {
    request->req_state = OMPI_REQUEST_INACTIVE;
    request->req_complete = REQUEST_COMPLETED;
  }
  return code;
}

static int start_operations(size_t count, ompi_request_t** requests) {
  for (size_t i = 0; i < count; ++i) {
    const int code = start_one(requests[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return OMPI_SUCCESS;
}

static int release_persistent(ompi_request_t** handle) {
  ompi_request_t* const request = *handle;
  convene_request_t* const freed = own(request);
  if (!REQUEST_COMPLETE(request)) return MPI_ERR_REQUEST;
  PMPI_Wait(&freed->receive, MPI_STATUS_IGNORE);
  convene_forget_persistent(freed->receive);
  PMPI_Request_free(&freed->receive);
  if (freed->op != MPI_OP_NULL) OBJ_RELEASE(freed->op);
  OMPI_REQUEST_FINI(request);
  *handle = MPI_REQUEST_NULL;
  keep(freed);
  return OMPI_SUCCESS;
}

int convene_request_wrap(MPI_Request* request, MPI_Comm comm, MPI_Op op) {
  if ((*request)->req_type != OMPI_REQUEST_PML) return MPI_SUCCESS; /* native */
  convene_request_t* const made = take(1);
  if (!made) {
    convene_forget_persistent(*request);
    PMPI_Request_free(request);
    return MPI_ERR_NO_MEM;
  }
  made->receive = *request;
  made->op = op;
  if (op != MPI_OP_NULL) OBJ_RETAIN(op);
  made->super.super.req_start = start_operations;
  made->super.super.req_free = release_persistent;
  made->super.super.req_mpi_object.comm = comm;
  *request = &made->super.super;
  return MPI_SUCCESS;
}
