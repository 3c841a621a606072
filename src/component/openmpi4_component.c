/* SPDX-License-Identifier: BSD-3-Clause */
/* Component of Open MPI 4.1: its collectives (coll), and what follows MPI_Init and precedes MPI_Finalize
 * (hook), in one library.
 *
 * Design notes
 * - A module belongs to one communicator. It keeps the functions of the modules below it, which are what
 *   Convene calls native there, and enters the runtime.
 * - Open MPI calls a communicator's collectives for itself, too: to create communicators, in files and
 *   windows, also while another call progresses. Ranks may be anywhere in their program meanwhile. Only calls
 *   of the program enter the runtime: those that return into the MPI function of that collective. All others
 *   go below. Another component above this one is such another caller.
 * - So nothing recurses: the runtime's own collectives go below as well, by way of the stand-ins, and those
 *   that create its internal communicators return elsewhere.
 * - The library stays loaded until the process ends: Open MPI's progress engine calls it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <link.h>
#include <ompi/communicator/communicator.h>
#include <ompi/mca/coll/coll.h>
#include <ompi/mca/hook/hook.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "component/bridge.h"
#include "component/openmpi4.h"

/* FORM(form, parameters, names, name, of the program, native, KIND, operator) for the three forms of all
 * collectives: the function of c_coll, the MPI function without prefix, the one that the program calls, and
 * the call where no module of Convene's is. */
#define FORMS_WITH(OPERATOR, Name, name, NAME, PATTERN, ...)                                              \
  FORM(name, (CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C)), (CONVENE_NAMES(PATTERN)), #Name, "PMPI_" #Name, \
       PMPI_##Name(CONVENE_NAMES(PATTERN)), BLOCKING, OPERATOR)                                           \
  FORM(i##name, (CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Request * request),                       \
       (CONVENE_NAMES(PATTERN), request), "I" #name, "PMPI_I" #name,                                      \
       PMPI_I##name(CONVENE_NAMES(PATTERN), request), NON_BLOCKING, OPERATOR)                             \
  FORM(name##_init, (CONVENE_ARGUMENTS_##PATTERN(CONVENE_IN_C), MPI_Info info, MPI_Request * request),    \
       (CONVENE_NAMES(PATTERN), info, request), #Name "_init", "PMPIX_" #Name "_init",                    \
       MPI_ERR_UNSUPPORTED_OPERATION, PERSISTENT, OPERATOR)
#define FORMS(...) FORMS_WITH(MPI_OP_NULL, __VA_ARGS__)
#define REDUCTION_FORMS(...) FORMS_WITH(op, __VA_ARGS__)
#define EVERY_FORM CONVENE_COLLECTIVES(FORMS, REDUCTION_FORMS, FORMS)
#define LIST(...) __VA_ARGS__

typedef struct {
  mca_coll_base_module_t super;
  mca_coll_base_comm_coll_t below; /* the functions of Convene's collectives, with their modules */
} convene_module_t;

static void construct(convene_module_t* module) { memset(&module->below, 0, sizeof module->below); }

static void destruct(convene_module_t* module) {
#define FORM(form, ...) \
  if (module->below.coll_##form##_module) OBJ_RELEASE(module->below.coll_##form##_module);
  EVERY_FORM
#undef FORM
}

OBJ_CLASS_DECLARATION(convene_module_t);
OBJ_CLASS_INSTANCE(convene_module_t, mca_coll_base_module_t, construct, destruct);

/* ------------------------------------------------------------------------ Callers */

#define FORM(form, ...) number_of_##form,
enum { EVERY_FORM number_of_forms };
#undef FORM

/* The code of the MPI functions that call a collective for the program. */
static struct { uintptr_t begin, bytes; } callers[number_of_forms];

#define IS_OF_PROGRAM(form) \
  ((uintptr_t)__builtin_return_address(0) - callers[number_of_##form].begin < callers[number_of_##form].bytes)

/* Finds them in Open MPI's library, whatever a tool before it defines. Returns null, or what is missing. */
static const char* find_callers(void) {
#define FORM(form, parameters, names, name, of_program, ...) of_program,
  static const char* const of_program[] = {EVERY_FORM};
#undef FORM
  Dl_info info;
  void* library = NULL;
  if (dladdr(OBJ_CLASS(mca_coll_base_module_t), &info) && info.dli_fname)
    library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return "Open MPI's library is not found";
  for (int i = 0; i < number_of_forms; ++i) {
    const ElfW(Sym)* symbol = NULL;
    void* const code = dlsym(library, of_program[i]);
    if (!code && strstr(of_program[i], "PMPIX_")) continue; /* built without persistent collectives */
    if (!code || !dladdr1(code, &info, (void**)&symbol, RTLD_DL_SYMENT) || !symbol || !symbol->st_size)
      return "the size of Open MPI's functions is not known";
    callers[i].begin = (uintptr_t)code;
    callers[i].bytes = symbol->st_size;
  }
  return NULL;
}

/* ---------------------------------------------------------------------- Functions */

/* The end of a call that the runtime has run: its request becomes one of its communicator. */
static int end_non_blocking(int code, MPI_Request* request, MPI_Comm comm) {
  if (code == MPI_SUCCESS) convene_request_set_comm(*request, comm);
  return code;
}
static int end_persistent(int code, MPI_Request* request, MPI_Comm comm, MPI_Op op) {
  return code == MPI_SUCCESS ? convene_request_wrap(request, comm, op) : code;
}
#define END_BLOCKING(call, operator) call
#define END_NON_BLOCKING(call, operator) end_non_blocking(call, request, comm)
#define END_PERSISTENT(call, operator) end_persistent(call, request, comm, operator)

/* The module's functions. */
#define FORM(form, parameters, names, name, of_program, native, KIND, operator)                 \
  static int enter_##form(LIST parameters, mca_coll_base_module_t* module) {                    \
    if (__builtin_expect(!IS_OF_PROGRAM(form), 0)) {                                            \
      const mca_coll_base_comm_coll_t* const below = &((const convene_module_t*)module)->below; \
      return below->coll_##form(LIST names, below->coll_##form##_module);                       \
    }                                                                                           \
    return END_##KIND(convene_enter_##form names, operator);                                    \
  }
EVERY_FORM
#undef FORM

/* Convene's module of a communicator, by a function of it; null if there is none. */
static const convene_module_t* module_of(MPI_Comm comm, mca_coll_base_module_t* top) {
  if (top && top->super.obj_class == OBJ_CLASS(convene_module_t)) return (const convene_module_t*)top;
  mca_coll_base_avail_coll_t* each;
  if (comm->c_coll->module_list) {
    OPAL_LIST_FOREACH(each, comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
      if (each->ac_module->super.obj_class == OBJ_CLASS(convene_module_t))
        return (const convene_module_t*)each->ac_module;
    }
  }
  return NULL;
}

/* The native functions: those below the component. */
#define FORM(form, parameters, names, name, of_program, native, KIND, operator)                 \
  static int below_##form parameters {                                                          \
    const convene_module_t* const module = module_of(comm, comm->c_coll->coll_##form##_module); \
    if (!module || !module->below.coll_##form) return native;                                   \
    return module->below.coll_##form(LIST names, module->below.coll_##form##_module);           \
  }
EVERY_FORM
#undef FORM

/* Open MPI itself passes what a collective returns to the communicator's error handler. */
static int leave_error_to_caller(MPI_Comm comm, int code) {
  (void)comm, (void)code;
  return MPI_SUCCESS;
}

/* Definitions in the place of Open MPI's, by their names with MPI_ or PMPI_; null: none. */
static void* stand_in(const char* full_name) {
#define FORM(form, parameters, names, name, ...) {name, (void*)below_##form},
  static const struct {
    const char* name;
    void* function;
  } definitions[] = {EVERY_FORM{"Comm_call_errhandler", (void*)leave_error_to_caller},
                     {"Grequest_start", (void*)convene_request_start},
                     {"Grequest_complete", (void*)convene_request_complete},
                     {"Start", (void*)convene_request_start_receive}};
#undef FORM
  const char* const plain = full_name[0] == 'P' ? full_name + 1 : full_name;
  if (strncmp(plain, "MPI_", 4) != 0) return NULL;
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; ++i)
    if (strcmp(plain + 4, definitions[i].name) == 0) return definitions[i].function;
  return NULL;
}

/* ---------------------------------------------------------------------- Component */

static int priority = 95;
static bool is_used = false; /* in this process; false also in a second copy of this library */

static int take_functions_below(mca_coll_base_module_t* base, struct ompi_communicator_t* comm) {
  convene_module_t* const module = (convene_module_t*)base;
  const mca_coll_base_comm_coll_t* const below = comm->c_coll;
#define FORM(form, ...)                                               \
  if (below->coll_##form && below->coll_##form##_module) {            \
    module->below.coll_##form = below->coll_##form;                   \
    module->below.coll_##form##_module = below->coll_##form##_module; \
    OBJ_RETAIN(below->coll_##form##_module);                          \
    base->coll_##form = enter_##form;                                 \
  }
  EVERY_FORM
#undef FORM
  return OMPI_SUCCESS;
}

static bool is_first_process(void) {
  const char* rank = getenv("OMPI_COMM_WORLD_RANK");
  if (!rank) rank = getenv("PMIX_RANK");
  return !rank || strcmp(rank, "0") == 0;
}

static bool is_set(const char* variable, const char* value) {
  const char* const found = getenv(variable);
  return found && strcmp(found, value) == 0;
}

/* Once in MPI_Init. */
static int query_process(bool uses_progress_threads, bool uses_threads) {
  (void)uses_progress_threads, (void)uses_threads;
  if (priority < 0 || is_set("CONVENE", "off")) return OMPI_ERR_NOT_AVAILABLE;
  if (convene_has_drop_in()) {
    if (is_set("CONVENE_LOG", "info") && is_first_process())
      fprintf(stderr, "convene: the component of Open MPI steps aside: the drop-in library is loaded\n");
    return OMPI_ERR_NOT_AVAILABLE;
  }
  const char* problem = find_callers();
  if (!problem) problem = convene_open(stand_in);
  if (problem) {
    if (is_first_process())
      fprintf(stderr, "convene: the component of Open MPI is not used: %s; preload the drop-in library\n",
              problem);
    return OMPI_ERR_NOT_AVAILABLE;
  }
  is_used = true;
  return OMPI_SUCCESS;
}

static mca_coll_base_module_t* query_comm(struct ompi_communicator_t* comm, int* its_priority) {
  if (!is_used || OMPI_COMM_IS_INTER(comm)) return NULL;
  convene_module_t* const module = OBJ_NEW(convene_module_t);
  if (!module) return NULL;
  module->super.coll_module_enable = take_functions_below;
  *its_priority = priority;
  return &module->super;
}

static int register_parameters(void);

#define EXPORT __attribute__((visibility("default")))
#define VERSION_OF_COMPONENT       \
  .mca_component_name = "convene", \
  MCA_BASE_MAKE_VERSION(component, CONVENE_VERSION_MAJOR, CONVENE_VERSION_MINOR, CONVENE_VERSION_PATCH)

EXPORT mca_coll_base_component_t mca_coll_convene_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, VERSION_OF_COMPONENT,
                      .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .collm_init_query = query_process,
    .collm_comm_query = query_comm,
};

static int register_parameters(void) {
  mca_base_component_var_register(&mca_coll_convene_component.collm_version, "priority",
                                  "Priority of Convene's collectives; negative: not used",
                                  MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_1,
                                  MCA_BASE_VAR_SCOPE_READONLY, &priority);
  return OMPI_SUCCESS;
}

static void after_init(int argc, char** argv, int requested, int* provided) {
  (void)argc, (void)argv, (void)requested, (void)provided;
  if (is_used) convene_after_init();
}

static void before_finalize(void) {
  if (is_used) convene_before_finalize();
}

EXPORT ompi_hook_base_component_t mca_hook_convene_component = {
    .hookm_version = {OMPI_HOOK_BASE_VERSION_1_0_0, VERSION_OF_COMPONENT},
    .hookm_data = {MCA_BASE_METADATA_PARAM_NONE},
    .hookm_mpi_init_bottom = after_init,
    .hookm_mpi_finalize_top = before_finalize,
};
