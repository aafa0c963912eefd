#include "operators.h"

#include "contract.h"

#include <string.h>

static const struct { const char *name; operator_kind kind; uint32_t least, most; } known[] = {
  {"MatMul", OPERATOR_MATMUL, 2, 2},
  {"Gemm", OPERATOR_GEMM, 2, 3},
  {"Add", OPERATOR_ADD, 2, 2},
  {"Relu", OPERATOR_RELU, 1, 1},
};

static sb_status gemm_of(const onnx_node *node, operator_step *step, sb_error *error)
{
  const onnx_attribute *alpha = onnx_find(node, "alpha"), *beta = onnx_find(node, "beta");
  const onnx_attribute *a = onnx_find(node, "transA"), *b = onnx_find(node, "transB");
  if ((alpha != NULL && alpha->f != 1) || (beta != NULL && beta->f != 1) || (a != NULL && a->i != 0))
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL,
                "operator 'Gemm' (node '%s'): alpha, beta and transA are supported with their defaults only", node->name);
  step->transposed = b != NULL && b->i != 0;
  return SB_OK;
}

sb_status operator_of(const onnx_node *node, operator_step *step, sb_error *error)
{
  size_t i;
  int standard = *node->domain == '\0' || strcmp(node->domain, "ai.onnx") == 0;
  for (i = 0; i < sizeof known / sizeof *known && standard; i++)
    if (strcmp(node->op, known[i].name) == 0) {
      step->kind = known[i].kind;
      step->operands = node->input_count;
      if (step->operands == 3 && *node->inputs[2] == '\0') /* the optional bias is left out */
        step->operands = 2;
      if (step->operands < known[i].least || step->operands > known[i].most || node->output_count != 1)
        return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "operator '%s' (node '%s') has %u inputs and %u outputs",
                    node->op, node->name, (unsigned)node->input_count, (unsigned)node->output_count);
      return step->kind == OPERATOR_GEMM ? gemm_of(node, step, error) : SB_OK;
    }
  return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL,
              "operator '%s%s%s' (node '%s') is not supported: this engine has MatMul, Gemm, Add and Relu",
              node->domain, standard ? "" : ".", node->op, node->name);
}

/* A row of N numbers counts as [1, N]. */
static int64_t rows(const engine_view *view) { return view->rank == 2 ? view->dims[0] : 1; }
static int64_t columns(const engine_view *view) { return view->rank == 0 ? 1 : view->dims[view->rank - 1]; }

/* The common length of two dimensions, one of which may be 1 or not known yet; -2: they do not fit. */
static int64_t broadcast(int64_t a, int64_t b)
{
  if (a == b || b == 1)
    return a;
  if (a == 1 || a == -1)
    return b;
  return b == -1 ? a : -2;
}

static sb_status unfit(const operator_step *step, const engine_view *a, const engine_view *b, sb_error *error)
{
  return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL,
              "node '%s': shapes [%lld, %lld] and [%lld, %lld] do not fit together", step->name, (long long)rows(a),
              (long long)columns(a), (long long)rows(b), (long long)columns(b));
}

static sb_status add_shape(const operator_step *step, const engine_view *a, const engine_view *b, engine_view *out,
                           sb_error *error)
{
  int64_t height = broadcast(rows(a), rows(b)), width = broadcast(columns(a), columns(b));
  if (height == -2 || width == -2)
    return unfit(step, a, b, error);
  out->rank = a->rank > b->rank ? a->rank : b->rank;
  out->dims[0] = out->rank == 2 ? height : width;
  out->dims[1] = width;
  return SB_OK;
}

sb_status operator_shape(const operator_step *step, const engine_view *values, engine_view *out, sb_error *error)
{
  const engine_view *a = &values[step->in[0]], *b = step->operands > 1 ? &values[step->in[1]] : a;
  engine_view product = {NULL, 2, {0, 0}};
  int64_t inner;
  int i;
  if (step->kind == OPERATOR_RELU) {
    *out = *a;
    return SB_OK;
  }
  if (step->kind == OPERATOR_ADD)
    return add_shape(step, a, b, out, error);
  if (a->rank != 2 || b->rank != 2)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL, "node '%s' multiplies tensors of rank %u and %u: only 2 is supported",
                step->name, (unsigned)a->rank, (unsigned)b->rank);
  inner = b->dims[step->transposed ? 1 : 0];
  if (a->dims[1] != inner && a->dims[1] != -1 && inner != -1)
    return unfit(step, a, b, error);
  product.rank = 2;
  product.dims[0] = a->dims[0];
  product.dims[1] = b->dims[step->transposed ? 0 : 1];
  *out = product;
  if (step->operands == 3) {
    sb_status status = add_shape(step, &product, &values[step->in[2]], out, error);
    if (status != SB_OK)
      return status;
    for (i = 0; i < 2; i++) /* the bias may be repeated over the product, never the other way round */
      if (product.dims[i] != -1 && out->dims[i] != product.dims[i])
        return unfit(step, &product, &values[step->in[2]], error);
  }
  *out = product;
  return SB_OK;
}

static void add(const engine_view *a, const engine_view *b, float *out, int64_t height, int64_t width)
{
  int64_t i, j;
  int64_t a_row = rows(a) == 1 ? 0 : columns(a), a_step = columns(a) == 1 ? 0 : 1;
  int64_t b_row = rows(b) == 1 ? 0 : columns(b), b_step = columns(b) == 1 ? 0 : 1;
  for (i = 0; i < height; i++)
    for (j = 0; j < width; j++)
      out[i * width + j] = a->data[i * a_row + j * a_step] + b->data[i * b_row + j * b_step];
}

static void multiply(const engine_view *a, const engine_view *b, int transposed, float *out)
{
  int64_t i, j, k, height = a->dims[0], inner = a->dims[1], width = b->dims[transposed ? 0 : 1];
  memset(out, 0, (size_t)(height * width) * sizeof *out);
  for (i = 0; i < height; i++)
    for (k = 0; k < inner; k++) {
      float left = a->data[i * inner + k];
      for (j = 0; j < width; j++)
        out[i * width + j] += left * b->data[transposed ? j * inner + k : k * width + j];
    }
}

void operator_compute(const operator_step *step, const engine_view *values, float *out)
{
  const engine_view *a = &values[step->in[0]], *b = step->operands > 1 ? &values[step->in[1]] : a;
  int64_t i;
  switch (step->kind) {
  case OPERATOR_RELU:
    for (i = 0; i < rows(a) * columns(a); i++)
      out[i] = a->data[i] < 0 ? 0 : a->data[i]; /* NaN stays NaN */
    break;
  case OPERATOR_ADD:
    add(a, b, out, broadcast(rows(a), rows(b)), broadcast(columns(a), columns(b)));
    break;
  case OPERATOR_MATMUL:
  case OPERATOR_GEMM:
    multiply(a, b, step->transposed, out);
    if (step->operands == 3) {
      engine_view product = {NULL, 2, {0, 0}};
      product.data = out;
      product.dims[0] = a->dims[0];
      product.dims[1] = b->dims[step->transposed ? 0 : 1];
      add(&product, &values[step->in[2]], out, product.dims[0], product.dims[1]);
    }
    break;
  }
}
