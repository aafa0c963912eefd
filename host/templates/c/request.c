/* Requests: tensors that are bound to a model's ports, and runs on them. */
#include "plugin.h"

#include "contract.h"

#include <stdlib.h>
#include <string.h>

/* An output that the plugin allocated. It outlives its request, since the caller may take it. */
typedef struct kept_output {
  sb_owned owned;
  int64_t shape[ENGINE_MAX_RANK];
  float data[];               /* as many as the shape says */
} kept_output;

struct sb_request {
  sb_model *model;
  engine_lane *lane;
  uint32_t input_count, output_count;
  engine_view *inputs;        /* of what is bound; data NULL: nothing is */
  engine_view *targets;       /* memory of the caller for outputs; data NULL: the plugin allocates */
  kept_output **kept;         /* allocated outputs of the last run that nobody has taken */
  engine_view *made;          /* what the engine computed */
  float nothing;              /* where tensors without elements point to */
};

static void release_output(sb_owned *owned)
{
  if (owned != NULL)
    free(owned->owner);
}

sb_status request_new(sb_model *model, sb_request **out, sb_error *error)
{
  sb_request *request;
  sb_status status;
  if (model == NULL || out == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  request = (sb_request *)calloc(1, sizeof *request);
  if (request == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for a request");
  request->model = model;
  request->input_count = engine_port_count(model->engine, SB_INPUT);
  request->output_count = engine_port_count(model->engine, SB_OUTPUT);
  request->inputs = (engine_view *)calloc(request->input_count + 1, sizeof *request->inputs);
  request->targets = (engine_view *)calloc(request->output_count + 1, sizeof *request->targets);
  request->kept = (kept_output **)calloc(request->output_count + 1, sizeof *request->kept);
  request->made = (engine_view *)calloc(request->output_count + 1, sizeof *request->made);
  if (request->inputs != NULL && request->targets != NULL && request->kept != NULL && request->made != NULL)
    status = engine_open_lane(model->engine, &request->lane, error);
  else
    status = fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for a request");
  if (status == SB_OK)
    *out = request;
  else
    request_release(request);
  return status;
}

void request_release(sb_request *request)
{
  uint32_t i;
  if (request == NULL)
    return;
  for (i = 0; i < request->output_count && request->kept != NULL; i++)
    free(request->kept[i]);
  engine_close_lane(request->lane);
  free(request->inputs);
  free(request->targets);
  free(request->kept);
  free(request->made);
  free(request);
}

/* Strides say nothing new where they are those of a dense tensor. */
static int is_dense(const sb_tensor *tensor)
{
  int64_t step = 1;
  int32_t i;
  for (i = tensor->ndim - 1; i >= 0 && tensor->strides != NULL; i--) {
    if (tensor->shape[i] > 1 && tensor->strides[i] != step)
      return 0;
    step *= tensor->shape[i];
  }
  return 1;
}

static int fits(const sb_tensor *tensor, const engine_view *port)
{
  uint32_t i;
  if (tensor->dtype.code != SB_FLOAT || tensor->dtype.bits != 32 || tensor->dtype.lanes != 1)
    return 0;
  if (tensor->ndim != (int32_t)port->rank || (tensor->ndim > 0 && tensor->shape == NULL))
    return 0;
  for (i = 0; i < port->rank; i++)
    if (tensor->shape[i] < 0 || (port->dims[i] != -1 && port->dims[i] != tensor->shape[i]))
      return 0;
  return 1;
}

/* Copies the struct and the shape; the data stays the caller's. */
static sb_status view_of(sb_request *request, const sb_tensor *tensor, const engine_port *port, engine_view *out,
                         sb_error *error)
{
  const char *data;
  uint32_t i;
  int empty = 0;
  if (tensor->place.type != SB_HOST_MEMORY)
    return fail(error, SB_UNIMPLEMENTED, 0, "'%s': only memory of the host can be bound", port->name);
  if (!fits(tensor, &port->view))
    return fail(error, SB_INVALID_ARGUMENT, 0, "'%s' is float32 of rank %u, with dimensions [%lld, %lld] where -1 is any",
                port->name, (unsigned)port->view.rank, (long long)port->view.dims[0],
                (long long)(port->view.rank > 1 ? port->view.dims[1] : 1));
  if (!is_dense(tensor))
    return fail(error, SB_INVALID_ARGUMENT, 0, "'%s': only dense tensors can be bound: leave strides NULL", port->name);
  out->rank = port->view.rank;
  for (i = 0; i < out->rank; i++) {
    out->dims[i] = tensor->shape[i];
    empty |= tensor->shape[i] == 0;
  }
  data = (const char *)tensor->data;
  if (data == NULL && !empty)
    return fail(error, SB_INVALID_ARGUMENT, 0, "'%s': a tensor without data", port->name);
  if (data != NULL && ((uintptr_t)data + tensor->byte_offset) % sizeof(float) != 0)
    return fail(error, SB_INVALID_ARGUMENT, 0, "'%s': the data is not aligned to %u bytes", port->name, (unsigned)sizeof(float));
  out->data = data != NULL ? (const float *)(const void *)(data + tensor->byte_offset) : &request->nothing;
  return SB_OK;
}

sb_status request_bind(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor, const sb_place *place,
                       sb_error *error)
{
  engine_view view = {NULL, 0, {0, 0}};
  const engine_port *port;
  if (request == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  port = engine_get_port(request->model->engine, direction, index);
  if (port == NULL)
    return fail(error, SB_NOT_FOUND, 0, "the model has no port %u in direction %d", (unsigned)index, (int)direction);
  if (tensor != NULL) {
    sb_status status = view_of(request, tensor, port, &view, error);
    if (status != SB_OK)
      return status;
  } else if (direction == SB_INPUT) {
    return fail(error, SB_INVALID_ARGUMENT, 0, "input '%s' needs a tensor", port->name);
  } else if (place != NULL && place->type != SB_HOST_MEMORY) {
    return fail(error, SB_UNIMPLEMENTED, 0, "'%s': outputs are allocated in memory of the host only", port->name);
  }
  if (direction == SB_INPUT) {
    request->inputs[index] = view;
  } else {
    request->targets[index] = view;
    free(request->kept[index]);
    request->kept[index] = NULL;
  }
  return SB_OK;
}

static size_t element_count(const engine_view *view)
{
  size_t count = 1;
  uint32_t i;
  for (i = 0; i < view->rank; i++)
    count *= (size_t)view->dims[i];
  return count;
}

static kept_output *allocate_output(const engine_view *like)
{
  kept_output *kept = (kept_output *)malloc(sizeof *kept + element_count(like) * sizeof *kept->data);
  uint32_t i;
  if (kept == NULL)
    return NULL;
  memset(&kept->owned, 0, sizeof kept->owned);
  for (i = 0; i < like->rank; i++)
    kept->shape[i] = like->dims[i];
  kept->owned.tensor.data = kept->data;
  kept->owned.tensor.place.type = SB_HOST_MEMORY;
  kept->owned.tensor.ndim = (int32_t)like->rank;
  kept->owned.tensor.dtype.code = SB_FLOAT;
  kept->owned.tensor.dtype.bits = 32;
  kept->owned.tensor.dtype.lanes = 1;
  kept->owned.tensor.shape = kept->shape;
  kept->owned.owner = kept;
  kept->owned.release = release_output;
  return kept;
}

/* Finds a place for every output before it writes into any: a run that fails leaves everything as it was. */
static sb_status deliver(sb_request *request, sb_error *error)
{
  kept_output **fresh = (kept_output **)calloc(request->output_count + 1, sizeof *fresh);
  sb_status status = SB_OK;
  uint32_t i;
  if (fresh == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for the outputs");
  for (i = 0; i < request->output_count && status == SB_OK; i++) {
    const engine_view *made = &request->made[i], *target = &request->targets[i];
    const engine_port *port = engine_get_port(request->model->engine, SB_OUTPUT, i);
    if (target->data == NULL && (fresh[i] = allocate_output(made)) == NULL)
      status = fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for output '%s'", port->name);
    if (target->data != NULL && memcmp(made->dims, target->dims, made->rank * sizeof *made->dims) != 0)
      status = fail(error, SB_INVALID_ARGUMENT, 0, "output '%s' has %lu elements, the memory bound to it has another shape",
                    port->name, (unsigned long)element_count(made));
  }
  for (i = 0; i < request->output_count && status == SB_OK; i++) {
    const engine_view *made = &request->made[i];
    float *to = fresh[i] != NULL ? fresh[i]->data : (float *)request->targets[i].data;
    memcpy(to, made->data, element_count(made) * sizeof(float));
    free(request->kept[i]);
    request->kept[i] = fresh[i];
    fresh[i] = NULL;
  }
  for (i = 0; i < request->output_count; i++)
    free(fresh[i]);
  free(fresh);
  return status;
}

sb_status request_run(sb_request *request, sb_timing *timing, sb_error *error)
{
  const sb_host *host;
  sb_timing measured;
  sb_status status;
  uint32_t i;
  if (request == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  for (i = 0; i < request->input_count; i++)
    if (request->inputs[i].data == NULL)
      return fail(error, SB_FAILED_PRECONDITION, 0, "input '%s' is not bound",
                  engine_get_port(request->model->engine, SB_INPUT, i)->name);
  host = request->model->host;
  memset(&measured, 0, sizeof measured);
  measured.size = sizeof measured;
  measured.submit_ns = measured.clock_error_ns = SB_UNKNOWN;
  measured.host_to_device_ns = measured.device_to_host_ns = SB_UNKNOWN;
  measured.start_ns = host_now(host);
  status = engine_run(request->lane, request->inputs, request->made, host, error);
  if (status == SB_OK)
    status = deliver(request, error);
  measured.end_ns = host_now(host);
  if (status == SB_OK)
    fill(timing, &measured, sizeof measured);
  return status;
}

sb_status request_output(sb_request *request, uint32_t index, sb_owned **out, sb_error *error)
{
  if (request == NULL || out == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  if (index >= request->output_count)
    return fail(error, SB_NOT_FOUND, 0, "the model has no output %u", (unsigned)index);
  if (request->kept[index] == NULL)
    return fail(error, SB_FAILED_PRECONDITION, 0, "output %u holds nothing: run first, and take it once", (unsigned)index);
  *out = &request->kept[index]->owned;
  request->kept[index] = NULL;
  return SB_OK;
}
