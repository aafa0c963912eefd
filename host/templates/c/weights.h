/* The numbers of an ONNX file's weights, from inside the file or from one beside it. */
#ifndef WEIGHTS_H
#define WEIGHTS_H

#include "onnx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes a float32 weight of `count` elements. The caller frees it. */
sb_status weights_read(const onnx_model *model, const onnx_tensor *weight, size_t count, float **out, sb_error *error);

#ifdef __cplusplus
}
#endif
#endif
