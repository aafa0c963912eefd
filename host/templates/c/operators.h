/* The operators of the engine: which shapes they take, and how they compute. */
#ifndef OPERATORS_H
#define OPERATORS_H

#include "engine.h"

typedef enum operator_kind { OPERATOR_MATMUL, OPERATOR_GEMM, OPERATOR_ADD, OPERATOR_RELU } operator_kind;

typedef struct operator_step { /* one node of the graph; values are numbered */
  operator_kind kind;
  const char *name;            /* for messages; lives as long as the engine */
  int transposed;              /* Gemm: the second operand is stored column by column */
  uint32_t operands;
  uint32_t in[3], out;
} operator_step;

/* Recognises a node: its kind and its attributes. SB_UNIMPLEMENTED, naming the operator, where the engine has none such. */
sb_status operator_of(const onnx_node *node, operator_step *step, sb_error *error);

/* The shape that a step makes from its operands' shapes, of which dynamic dimensions (-1) fit anything. */
sb_status operator_shape(const operator_step *step, const engine_view *values, engine_view *out, sb_error *error);

/* Computes a step into `out`, which has room for the shape that `operator_shape` told. */
void operator_compute(const operator_step *step, const engine_view *values, float *out);

#endif
