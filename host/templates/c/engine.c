#include "engine.h"

#include "contract.h"
#include "operators.h"
#include "weights.h"

#include <stdlib.h>
#include <string.h>

/* Values are numbered: first the inputs, then the weights, then what each step makes. */
struct engine {
  uint32_t input_count, output_count, weight_count, step_count;
  engine_port *inputs, *outputs;
  uint32_t *output_values;    /* the number of each output's value */
  engine_view *values;        /* what is known of each before a run: its shape, and a weight's data */
  operator_step *steps;
  char **step_names;
};

struct engine_lane {
  const engine *engine;
  engine_view *values;
  float **buffers;            /* one for each step, kept from run to run */
  size_t *rooms;              /* in elements */
};

static uint32_t value_count(const engine *engine)
{
  return engine->input_count + engine->weight_count + engine->step_count;
}

/* How many elements a tensor has; 0 where they could not be addressed. */
static int count_elements(const engine_view *view, size_t *out)
{
  uint32_t i;
  *out = 1;
  for (i = 0; i < view->rank; i++) {
    uint64_t dim = (uint64_t)view->dims[i];
    if (view->dims[i] < 0 || (dim != 0 && *out > SIZE_MAX / sizeof(float) / 2 / dim))
      return 0;
    *out *= (size_t)dim;
  }
  return 1;
}

static char *copy_text(const char *text)
{
  char *copy = (char *)malloc(strlen(text) + 1);
  return copy == NULL ? NULL : strcpy(copy, text);
}

static sb_status no_memory(sb_error *error)
{
  return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for the model");
}

static sb_status plan_input(const onnx_port *from, engine_port *to, sb_error *error)
{
  uint32_t i;
  if (from->dtype != ONNX_FLOAT || from->dims == NULL || from->rank < 1 || from->rank > ENGINE_MAX_RANK)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL,
                "input '%s' is not supported: this engine takes float32 of rank 1 or 2", from->name);
  if ((to->name = copy_text(from->name)) == NULL)
    return no_memory(error);
  to->view.rank = from->rank;
  for (i = 0; i < from->rank; i++) {
    to->view.dims[i] = from->dims[i];
    if (from->dim_names[i] != NULL && (to->dim_names[i] = copy_text(from->dim_names[i])) == NULL)
      return no_memory(error);
  }
  return SB_OK;
}

/* An output has the shape that the graph computes; the file adds the names of its dimensions. */
static sb_status plan_output(const onnx_port *from, const engine_view *value, engine_port *to, sb_error *error)
{
  uint32_t i;
  if ((to->name = copy_text(from->name)) == NULL)
    return no_memory(error);
  to->view.rank = value->rank;
  for (i = 0; i < value->rank; i++) {
    const char *name = from->rank == value->rank ? from->dim_names[i] : NULL;
    to->view.dims[i] = value->dims[i];
    if (name != NULL && (to->dim_names[i] = copy_text(name)) == NULL)
      return no_memory(error);
  }
  return SB_OK;
}

static sb_status plan_weight(const onnx_tensor *from, engine_view *to, sb_error *error)
{
  size_t count;
  uint32_t i;
  if (from->dtype != ONNX_FLOAT || from->rank > ENGINE_MAX_RANK)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL,
                "weight '%s' is not supported: this engine takes float32 of rank 2 or less", from->name);
  to->rank = from->rank;
  for (i = 0; i < from->rank; i++)
    to->dims[i] = from->dims[i];
  if (!count_elements(to, &count))
    return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "weight '%s' has an impossible shape", from->name);
  return SB_OK;
}

/* Which of the values that exist before step `steps` has this name. */
static int find_value(const onnx_model *graph, uint32_t steps, const char *name, uint32_t *out)
{
  uint32_t i;
  for (i = 0; i < graph->input_count; i++)
    if (strcmp(graph->inputs[i].name, name) == 0)
      return *out = i, 1;
  for (i = 0; i < graph->weight_count; i++)
    if (strcmp(graph->weights[i].name, name) == 0)
      return *out = graph->input_count + i, 1;
  for (i = 0; i < steps; i++)
    if (strcmp(graph->nodes[i].outputs[0], name) == 0)
      return *out = graph->input_count + graph->weight_count + i, 1;
  return 0;
}

static sb_status plan_step(engine *engine, const onnx_model *graph, uint32_t index, sb_error *error)
{
  const onnx_node *node = &graph->nodes[index];
  operator_step *step = &engine->steps[index];
  uint32_t i;
  if ((engine->step_names[index] = copy_text(*node->name != '\0' ? node->name : node->outputs[0])) == NULL)
    return no_memory(error);
  step->name = engine->step_names[index];
  for (i = 0; i < step->operands; i++)
    if (!find_value(graph, index, node->inputs[i], &step->in[i]))
      return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "node '%s' reads '%s', which nothing before it makes",
                  step->name, node->inputs[i]);
  step->out = graph->input_count + graph->weight_count + index;
  return operator_shape(step, engine->values, &engine->values[step->out], error);
}

static sb_status plan(engine *engine, const onnx_model *graph, sb_error *error)
{
  sb_status status = SB_OK;
  uint32_t i;
  for (i = 0; i < graph->node_count && status == SB_OK; i++)
    status = operator_of(&graph->nodes[i], &engine->steps[i], error);
  for (i = 0; i < graph->input_count && status == SB_OK; i++) {
    status = plan_input(&graph->inputs[i], &engine->inputs[i], error);
    engine->values[i] = engine->inputs[i].view;
  }
  for (i = 0; i < graph->weight_count && status == SB_OK; i++)
    status = plan_weight(&graph->weights[i], &engine->values[graph->input_count + i], error);
  for (i = 0; i < graph->node_count && status == SB_OK; i++)
    status = plan_step(engine, graph, i, error);
  for (i = 0; i < graph->output_count && status == SB_OK; i++) {
    if (!find_value(graph, graph->node_count, graph->outputs[i].name, &engine->output_values[i]))
      return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "nothing makes the output '%s'", graph->outputs[i].name);
    status = plan_output(&graph->outputs[i], &engine->values[engine->output_values[i]], &engine->outputs[i], error);
  }
  if (status == SB_OK && graph->output_count == 0)
    status = fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "the graph has no output");
  return status;
}

sb_status engine_plan(const onnx_model *graph, engine **out, sb_error *error)
{
  engine *made = (engine *)calloc(1, sizeof *made);
  sb_status status;
  if (made == NULL)
    return no_memory(error);
  made->input_count = graph->input_count;
  made->output_count = graph->output_count;
  made->weight_count = graph->weight_count;
  made->step_count = graph->node_count;
  made->inputs = (engine_port *)calloc(made->input_count + 1, sizeof *made->inputs);
  made->outputs = (engine_port *)calloc(made->output_count + 1, sizeof *made->outputs);
  made->output_values = (uint32_t *)calloc(made->output_count + 1, sizeof *made->output_values);
  made->values = (engine_view *)calloc((size_t)value_count(made) + 1, sizeof *made->values);
  made->steps = (operator_step *)calloc(made->step_count + 1, sizeof *made->steps);
  made->step_names = (char **)calloc(made->step_count + 1, sizeof *made->step_names);
  if (made->inputs && made->outputs && made->output_values && made->values && made->steps && made->step_names)
    status = plan(made, graph, error);
  else
    status = no_memory(error);
  if (status == SB_OK)
    *out = made;
  else
    engine_free(made);
  return status;
}

sb_status engine_compile(engine *engine, const onnx_model *graph, sb_error *error)
{
  uint32_t i;
  for (i = 0; i < graph->weight_count; i++) {
    engine_view *value = &engine->values[engine->input_count + i];
    float *numbers = NULL;
    size_t count;
    sb_status status;
    if (!count_elements(value, &count))
      return no_memory(error);
    status = weights_read(graph, &graph->weights[i], count, &numbers, error);
    if (status != SB_OK)
      return status;
    value->data = numbers;
  }
  return SB_OK;
}

static void free_ports(engine_port *ports, uint32_t count)
{
  uint32_t i, dim;
  for (i = 0; i < count && ports != NULL; i++) {
    free(ports[i].name);
    for (dim = 0; dim < ENGINE_MAX_RANK; dim++)
      free(ports[i].dim_names[dim]);
  }
  free(ports);
}

void engine_free(engine *engine)
{
  uint32_t i;
  if (engine == NULL)
    return;
  for (i = 0; i < engine->weight_count && engine->values != NULL; i++)
    free((void *)engine->values[engine->input_count + i].data);
  for (i = 0; i < engine->step_count && engine->step_names != NULL; i++)
    free(engine->step_names[i]);
  free_ports(engine->inputs, engine->input_count);
  free_ports(engine->outputs, engine->output_count);
  free(engine->output_values);
  free(engine->values);
  free(engine->steps);
  free(engine->step_names);
  free(engine);
}

uint32_t engine_port_count(const engine *engine, int32_t direction)
{
  return direction == SB_INPUT ? engine->input_count : direction == SB_OUTPUT ? engine->output_count : 0;
}

const engine_port *engine_get_port(const engine *engine, int32_t direction, uint32_t index)
{
  if (index >= engine_port_count(engine, direction))
    return NULL;
  return direction == SB_INPUT ? &engine->inputs[index] : &engine->outputs[index];
}

uint64_t engine_node_count(const engine *engine) { return engine->step_count; }

sb_status engine_open_lane(const engine *engine, engine_lane **out, sb_error *error)
{
  engine_lane *lane = (engine_lane *)calloc(1, sizeof *lane);
  if (lane == NULL)
    return no_memory(error);
  lane->engine = engine;
  lane->values = (engine_view *)calloc((size_t)value_count(engine) + 1, sizeof *lane->values);
  lane->buffers = (float **)calloc(engine->step_count + 1, sizeof *lane->buffers);
  lane->rooms = (size_t *)calloc(engine->step_count + 1, sizeof *lane->rooms);
  if (lane->values == NULL || lane->buffers == NULL || lane->rooms == NULL) {
    engine_close_lane(lane);
    return no_memory(error);
  }
  *out = lane;
  return SB_OK;
}

void engine_close_lane(engine_lane *lane)
{
  uint32_t i;
  if (lane == NULL)
    return;
  for (i = 0; i < lane->engine->step_count && lane->buffers != NULL; i++)
    free(lane->buffers[i]);
  free(lane->buffers);
  free(lane->rooms);
  free(lane->values);
  free(lane);
}

static sb_status run_step(engine_lane *lane, uint32_t index, sb_error *error)
{
  const operator_step *step = &lane->engine->steps[index];
  engine_view *made = &lane->values[step->out];
  size_t count;
  sb_status status = operator_shape(step, lane->values, made, error);
  if (status != SB_OK)
    return status;
  if (!count_elements(made, &count))
    return no_memory(error);
  if (count > lane->rooms[index] || lane->buffers[index] == NULL) {
    float *larger = (float *)malloc(count * sizeof *larger + 1);
    if (larger == NULL)
      return no_memory(error);
    free(lane->buffers[index]);
    lane->buffers[index] = larger;
    lane->rooms[index] = count;
  }
  made->data = lane->buffers[index];
  operator_compute(step, lane->values, lane->buffers[index]);
  return SB_OK;
}

sb_status engine_run(engine_lane *lane, const engine_view *inputs, engine_view *outputs, const sb_host *host, sb_error *error)
{
  const engine *engine = lane->engine;
  uint32_t i;
  memcpy(lane->values, engine->values, value_count(engine) * sizeof *lane->values);
  memcpy(lane->values, inputs, engine->input_count * sizeof *inputs);
  for (i = 0; i < engine->step_count; i++) {
    sb_status status;
    if (host_stopping(host))
      return fail(error, SB_CANCELLED, 0, "the run was stopped");
    status = run_step(lane, i, error);
    if (status != SB_OK)
      return status;
  }
  for (i = 0; i < engine->output_count; i++)
    outputs[i] = lane->values[engine->output_values[i]];
  return SB_OK;
}
