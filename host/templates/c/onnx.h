/* A minimal reader of ONNX files: as much of the protobuf messages as an engine needs to see which graph it is asked to run.
 *
 * It reads any ONNX file and judges none: what the engine can do with a graph is for engine.c to say. Every length is held
 * against the end of the file, so that a truncated or damaged file is an error and never a crash.
 */
#ifndef ONNX_H
#define ONNX_H

#include "skillbench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ONNX_FLOAT = 1 }; /* TensorProto.DataType; the other types need no name here */

typedef struct onnx_port {    /* an input or an output of the graph */
  const char *name;
  int32_t dtype;
  uint32_t rank;
  int64_t *dims;              /* -1: dynamic */
  const char **dim_names;     /* NULL where a dimension has no name */
} onnx_port;

typedef struct onnx_tensor {  /* an initializer: a weight */
  const char *name;
  int32_t dtype;
  uint32_t rank;
  int64_t *dims;
  const uint8_t *raw;         /* `raw_length` bytes; NULL: none here */
  size_t raw_length;
  const char *location;       /* a file beside the model that holds the data; NULL: none */
  uint64_t offset, length;    /* in that file; length 0: not told */
} onnx_tensor;

typedef struct onnx_attribute {
  const char *name;
  int64_t i;
  float f;
} onnx_attribute;

typedef struct onnx_node {
  const char *op, *domain, *name;
  uint32_t input_count, output_count, attribute_count;
  const char **inputs, **outputs; /* "": an optional one that is left out */
  onnx_attribute *attributes;
} onnx_node;

typedef struct onnx_model {
  uint32_t node_count, weight_count, input_count, output_count;
  onnx_node *nodes;
  onnx_tensor *weights;
  onnx_port *inputs;          /* without those that are weights */
  onnx_port *outputs;
  const char *folder;         /* where external data lies, with its separator; NULL: nowhere */
  uint8_t *file;              /* what was read; `raw` points into it */
  const char *problem;        /* why reading stopped; NULL: it did not */
  union onnx_block *blocks;   /* everything above, freed at once */
} onnx_model;

/* Reads what an sb_source names: a file, or bytes that have to stay where they are until `onnx_free`. */
sb_status onnx_read(const sb_source *source, onnx_model **out, sb_error *error);
void onnx_free(onnx_model *model);

/* The attribute of that name, or NULL. */
const onnx_attribute *onnx_find(const onnx_node *node, const char *name);

#ifdef __cplusplus
}
#endif
#endif
