/* Loading: from a file to a compiled model, and what can be asked of it. */
#include "plugin.h"

#include "contract.h"

#include <stdlib.h>
#include <string.h>

/* What is asked for is done or refused, never ignored: a benchmark of the wrong precision is worse than none. */
static sb_status check_load(const sb_load *load, sb_error *error)
{
  const char *precision = SB_HAS(sb_load, load, precision) ? load->precision : NULL;
  uint32_t i, devices = SB_HAS(sb_load, load, device_count) && load->devices != NULL ? load->device_count : 0;
  if (!SB_HAS(sb_load, load, source) || load->source == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "there is nothing to load");
  if (precision != NULL && *precision != '\0' && strcmp(precision, "float32") != 0)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_PRECISION, "precision '%s' is not supported: this engine computes in float32",
                precision);
  for (i = 0; i < devices; i++)
    if (load->devices[i] != 0)
      return fail(error, SB_NOT_FOUND, SB_WHY_DEVICE, "there is no device %u", (unsigned)load->devices[i]);
  return SB_OK;
}

/* The time that each step took is told in the placement: it is the vendor's own part of "load". */
static sb_status plan_and_compile(const sb_load *load, int only_plan, sb_model *model, sb_error *error)
{
  uint64_t start, read, planned, compiled;
  onnx_model *graph = NULL;
  sb_status status = check_load(load, error);
  if (status != SB_OK)
    return status;
  start = host_now(model->host);
  status = onnx_read(load->source, &graph, error);
  if (status != SB_OK)
    return status;
  read = host_now(model->host);
  status = engine_plan(graph, &model->engine, error);
  planned = host_now(model->host);
  if (status == SB_OK && !only_plan)
    status = engine_compile(model->engine, graph, error);
  compiled = host_now(model->host);
  onnx_free(graph);
  model->compile_ns = elapsed(read, planned);
  model->read_ns = elapsed(start, read);
  if (model->read_ns != SB_UNKNOWN && elapsed(planned, compiled) != SB_UNKNOWN)
    model->read_ns += elapsed(planned, compiled); /* what `engine_compile` does here is to read the weights */
  return status;
}

/* Answers "why not" without compiling: reads the graph, and leaves its weights alone. */
sb_status model_supports(sb_instance *instance, const sb_load *load, sb_error *error)
{
  sb_model planned = {NULL, NULL, 0, 0};
  sb_status status;
  if (instance == NULL || load == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  planned.host = instance->host;
  status = plan_and_compile(load, 1, &planned, error);
  engine_free(planned.engine);
  return status;
}

sb_status model_load(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error)
{
  sb_model *model;
  sb_status status;
  if (instance == NULL || load == NULL || out == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  model = (sb_model *)calloc(1, sizeof *model);
  if (model == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for a model");
  model->host = instance->host;
  status = plan_and_compile(load, 0, model, error);
  if (status == SB_OK)
    *out = model;
  else
    model_unload(model);
  return status;
}

void model_unload(sb_model *model)
{
  if (model != NULL)
    engine_free(model->engine);
  free(model);
}

/* Read back what happened; never repeat what was asked for. An engine that leaves nodes to another device says so here. */
sb_status model_placement(sb_model *model, sb_placement *out, sb_error *error)
{
  sb_placement placement;
  if (model == NULL)
    return fail(error, SB_INVALID_ARGUMENT, 0, "a null handle");
  memset(&placement, 0, sizeof placement);
  placement.size = sizeof placement;
  placement.nodes_total = engine_node_count(model->engine);
  placement.nodes_on_device = engine_node_count(model->engine);
  placement.cache_hit = SB_UNKNOWN; /* keeps no cache */
  placement.read_ns = model->read_ns;
  placement.compile_ns = model->compile_ns;
  placement.upload_ns = SB_UNKNOWN;
  strcpy(placement.precision, "float32");
  strcpy(placement.device, DEVICE_ID);
  strcpy(placement.engine, ENGINE_NAME);
  fill(out, &placement, sizeof placement);
  return SB_OK;
}

uint32_t model_port_count(sb_model *model, int32_t direction)
{
  return model != NULL ? engine_port_count(model->engine, direction) : 0;
}

sb_status model_port(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error)
{
  const engine_port *found = model != NULL ? engine_get_port(model->engine, direction, index) : NULL;
  sb_port port;
  if (found == NULL)
    return fail(error, SB_NOT_FOUND, 0, "the model has no %s %u", direction == SB_INPUT ? "input" : "output", (unsigned)index);
  memset(&port, 0, sizeof port);
  port.size = sizeof port;
  port.ndim = found->view.rank;
  port.name = found->name;
  port.shape = found->view.dims;
  port.dim_names = (const char *const *)found->dim_names;
  port.dtype.code = SB_FLOAT;
  port.dtype.bits = 32;
  port.dtype.lanes = 1;
  fill(out, &port, sizeof port);
  return SB_OK;
}
