#include "onnx.h"

#include "contract.h"
#include "protobuf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that belongs to a model is one list of blocks. */
union onnx_block {
  union onnx_block *next;
  int64_t aligned_for_integers;
  double aligned_for_floats;
};

/* Zeroed memory that lives as long as the model. NULL, with `problem` set: there is none. */
static void *keep(onnx_model *model, size_t count, size_t size)
{
  union onnx_block *block = NULL;
  if (count <= (SIZE_MAX - sizeof *block) / size)
    block = (union onnx_block *)calloc(1, sizeof *block + count * size);
  if (block == NULL) {
    model->problem = "there is no memory for it";
    return NULL;
  }
  block->next = model->blocks;
  model->blocks = block;
  return block + 1;
}

static int broken(onnx_model *model)
{
  model->problem = "it is no complete ONNX file";
  return 0;
}

static int read_text(onnx_model *model, pb_span bytes, const char **out)
{
  size_t length = (size_t)(bytes.end - bytes.at);
  char *copy = (char *)keep(model, length + 1, 1);
  if (copy == NULL)
    return 0;
  memcpy(copy, bytes.at, length);
  *out = copy;
  return 1;
}

/* Each function from here on reads one protobuf message, and returns 0 with `problem` set where that fails. The numbers are
 * those of onnx.proto. */

static int read_dimension(onnx_model *model, pb_span rest, int64_t *value, const char **name)
{
  pb_field field;
  int more;
  *value = -1;
  while ((more = pb_next(&rest, &field)) > 0) {
    if (field.number == 1) /* dim_value */
      *value = (int64_t)field.value < 0 ? -1 : (int64_t)field.value;
    if (field.number == 2 && !read_text(model, field.bytes, name)) /* dim_param */
      return 0;
  }
  if (*name != NULL && **name == '\0')
    *name = NULL;
  return more == 0 || broken(model);
}

static int read_shape(onnx_model *model, pb_span rest, onnx_port *port)
{
  pb_field field;
  int more;
  size_t count = pb_count(rest, 1);
  port->rank = 0;
  port->dims = (int64_t *)keep(model, count, sizeof *port->dims);
  port->dim_names = (const char **)keep(model, count, sizeof *port->dim_names);
  if (port->dims == NULL || port->dim_names == NULL)
    return 0;
  while ((more = pb_next(&rest, &field)) > 0)
    if (field.number == 1) {
      if (!read_dimension(model, field.bytes, &port->dims[port->rank], &port->dim_names[port->rank]))
        return 0;
      port->rank++;
    }
  return more == 0 || broken(model);
}

/* ValueInfoProto (level 0) holds TypeProto (1), which holds TypeProto.Tensor (2) with the type and the shape. */
static int read_port(onnx_model *model, pb_span rest, int level, onnx_port *port)
{
  pb_field field;
  int more;
  while ((more = pb_next(&rest, &field)) > 0) {
    int inner = (level == 0 && field.number == 2) || (level == 1 && field.number == 1);
    if (level == 0 && field.number == 1 && !read_text(model, field.bytes, &port->name))
      return 0;
    if (inner && !read_port(model, field.bytes, level + 1, port))
      return 0;
    if (level == 2 && field.number == 1)
      port->dtype = (int32_t)field.value;
    if (level == 2 && field.number == 2 && !read_shape(model, field.bytes, port))
      return 0;
  }
  return more == 0 || broken(model);
}

/* An entry of external_data: "location", "offset" or "length", as text. */
static int read_external(onnx_model *model, pb_span rest, onnx_tensor *tensor)
{
  const char *key = "", *value = "";
  pb_field field;
  int more;
  while ((more = pb_next(&rest, &field)) > 0)
    if ((field.number == 1 || field.number == 2) && !read_text(model, field.bytes, field.number == 1 ? &key : &value))
      return 0;
  if (strcmp(key, "location") == 0)
    tensor->location = value;
  if (strcmp(key, "offset") == 0)
    tensor->offset = strtoull(value, NULL, 10);
  if (strcmp(key, "length") == 0)
    tensor->length = strtoull(value, NULL, 10);
  return more == 0 || broken(model);
}

static int read_tensor(onnx_model *model, pb_span rest, onnx_tensor *tensor)
{
  pb_field field;
  int more;
  tensor->name = "";
  if (!pb_numbers(rest, 1, NULL, &tensor->rank)) /* dims */
    return broken(model);
  tensor->dims = (int64_t *)keep(model, tensor->rank, sizeof *tensor->dims);
  if (tensor->dims == NULL)
    return 0;
  pb_numbers(rest, 1, tensor->dims, &tensor->rank);
  while ((more = pb_next(&rest, &field)) > 0) {
    if (field.number == 2)
      tensor->dtype = (int32_t)field.value;
    if (field.number == 8 && !read_text(model, field.bytes, &tensor->name))
      return 0;
    if (field.number == 9 && field.wire == PB_BYTES) { /* raw_data */
      tensor->raw = field.bytes.at;
      tensor->raw_length = (size_t)(field.bytes.end - field.bytes.at);
    }
    if (field.number == 13 && !read_external(model, field.bytes, tensor))
      return 0;
  }
  return more == 0 || broken(model);
}

static int read_attribute(onnx_model *model, pb_span rest, onnx_attribute *attribute)
{
  pb_field field;
  int more;
  attribute->name = "";
  while ((more = pb_next(&rest, &field)) > 0) {
    if (field.number == 1 && !read_text(model, field.bytes, &attribute->name))
      return 0;
    if (field.number == 2 && field.wire == PB_FIXED32) {
      uint32_t bits = (uint32_t)field.value;
      memcpy(&attribute->f, &bits, sizeof bits);
    }
    if (field.number == 3)
      attribute->i = (int64_t)field.value;
  }
  return more == 0 || broken(model);
}

static int read_node(onnx_model *model, pb_span rest, onnx_node *node)
{
  pb_field field;
  int more;
  node->op = node->domain = node->name = "";
  node->inputs = (const char **)keep(model, pb_count(rest, 1), sizeof *node->inputs);
  node->outputs = (const char **)keep(model, pb_count(rest, 2), sizeof *node->outputs);
  node->attributes = (onnx_attribute *)keep(model, pb_count(rest, 5), sizeof *node->attributes);
  if (node->inputs == NULL || node->outputs == NULL || node->attributes == NULL)
    return 0;
  while ((more = pb_next(&rest, &field)) > 0) {
    int read = 1;
    switch (field.number) {
    case 1: read = read_text(model, field.bytes, &node->inputs[node->input_count++]); break;
    case 2: read = read_text(model, field.bytes, &node->outputs[node->output_count++]); break;
    case 3: read = read_text(model, field.bytes, &node->name); break;
    case 4: read = read_text(model, field.bytes, &node->op); break;
    case 5: read = read_attribute(model, field.bytes, &node->attributes[node->attribute_count++]); break;
    case 7: read = read_text(model, field.bytes, &node->domain); break;
    default: break;
    }
    if (!read)
      return 0;
  }
  return more == 0 || broken(model);
}

/* Files before IR version 4 list every weight among the inputs too. */
static void drop_inputs_that_are_weights(onnx_model *model)
{
  uint32_t i, w, left = 0;
  for (i = 0; i < model->input_count; i++) {
    int weight = 0;
    for (w = 0; w < model->weight_count && !weight; w++)
      weight = strcmp(model->inputs[i].name, model->weights[w].name) == 0;
    if (!weight)
      model->inputs[left++] = model->inputs[i];
  }
  model->input_count = left;
}

static int read_graph(onnx_model *model, pb_span rest)
{
  pb_field field;
  int more;
  model->nodes = (onnx_node *)keep(model, pb_count(rest, 1), sizeof *model->nodes);
  model->weights = (onnx_tensor *)keep(model, pb_count(rest, 5), sizeof *model->weights);
  model->inputs = (onnx_port *)keep(model, pb_count(rest, 11), sizeof *model->inputs);
  model->outputs = (onnx_port *)keep(model, pb_count(rest, 12), sizeof *model->outputs);
  if (model->nodes == NULL || model->weights == NULL || model->inputs == NULL || model->outputs == NULL)
    return 0;
  while ((more = pb_next(&rest, &field)) > 0) {
    onnx_port *port = NULL;
    if (field.number == 1 && !read_node(model, field.bytes, &model->nodes[model->node_count++]))
      return 0;
    if (field.number == 5 && !read_tensor(model, field.bytes, &model->weights[model->weight_count++]))
      return 0;
    if (field.number == 11)
      port = &model->inputs[model->input_count++];
    if (field.number == 12)
      port = &model->outputs[model->output_count++];
    if (port != NULL) {
      port->name = "";
      if (!read_port(model, field.bytes, 0, port))
        return 0;
    }
  }
  if (more != 0)
    return broken(model);
  drop_inputs_that_are_weights(model);
  return 1;
}

static int read_model(onnx_model *model, pb_span file)
{
  pb_field field;
  pb_span rest = file, graph = {NULL, NULL};
  int more;
  while ((more = pb_next(&rest, &field)) > 0)
    if (field.number == 7 && field.wire == PB_BYTES)
      graph = field.bytes;
  if (more != 0 || graph.at == NULL)
    return broken(model);
  return read_graph(model, graph);
}

/* Reads to the end rather than asking for the length first: a pipe or a folder has none. */
static int read_file(onnx_model *model, const char *path, pb_span *out)
{
  FILE *file = fopen(path, "rb");
  size_t length = 0, room = 0, got = 1;
  if (file == NULL) {
    model->problem = "it cannot be opened";
    return 0;
  }
  while (got > 0 && model->problem == NULL) {
    if (length == room) {
      size_t larger = room == 0 ? 65536 : room * 2;
      uint8_t *grown = (uint8_t *)realloc(model->file, larger);
      if (grown == NULL) {
        model->problem = "there is no memory for it";
        break;
      }
      model->file = grown;
      room = larger;
    }
    got = fread(model->file + length, 1, room - length, file);
    length += got;
  }
  if (ferror(file))
    model->problem = "it cannot be read";
  fclose(file);
  out->at = model->file;
  out->end = model->file + length;
  return model->problem == NULL;
}

/* The part of a path up to its last separator. */
static int read_folder(onnx_model *model, const char *path)
{
  size_t length = strlen(path);
  pb_span folder;
  while (length > 0 && path[length - 1] != '/' && path[length - 1] != '\\')
    length--;
  folder.at = (const uint8_t *)path;
  folder.end = folder.at + length;
  return read_text(model, folder, &model->folder);
}

sb_status onnx_read(const sb_source *source, onnx_model **out, sb_error *error)
{
  const char *format = SB_HAS(sb_source, source, format) ? source->format : NULL;
  const char *path = SB_HAS(sb_source, source, path) ? source->path : NULL;
  const char *named = path != NULL ? path : "(in memory)";
  int has_bytes = SB_HAS(sb_source, source, length) && source->bytes != NULL && source->length <= SIZE_MAX;
  onnx_model *model;
  pb_span file;
  sb_status status;
  if (format == NULL || strcmp(format, "onnx") != 0)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL, "the format '%s' is not supported: give an ONNX file",
                format != NULL ? format : "");
  if (path == NULL && !has_bytes)
    return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "the model has neither a path nor bytes");
  model = (onnx_model *)calloc(1, sizeof *model);
  if (model == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "model %s: there is no memory for it", named);
  if (path == NULL) {
    file.at = (const uint8_t *)source->bytes;
    file.end = file.at + (size_t)source->length;
  }
  if ((path == NULL || (read_file(model, path, &file) && read_folder(model, path))) && read_model(model, file)) {
    *out = model;
    return SB_OK;
  }
  status = fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "model %s: %s", named, model->problem);
  onnx_free(model);
  return status;
}

void onnx_free(onnx_model *model)
{
  if (model == NULL)
    return;
  while (model->blocks != NULL) {
    union onnx_block *next = model->blocks->next;
    free(model->blocks);
    model->blocks = next;
  }
  free(model->file);
  free(model);
}

const onnx_attribute *onnx_find(const onnx_node *node, const char *name)
{
  uint32_t i;
  for (i = 0; i < node->attribute_count; i++)
    if (strcmp(node->attributes[i].name, name) == 0)
      return &node->attributes[i];
  return NULL;
}
