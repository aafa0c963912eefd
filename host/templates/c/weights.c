#include "weights.h"

#include "contract.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sb_status lost(sb_error *error, const onnx_tensor *weight, const char *why)
{
  return fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "weight '%s': %s", weight->name, why);
}

/* ONNX allows only files beside the model or below: nothing that leads out of its folder. */
static int leads_out(const char *location)
{
  return *location == '\0' || *location == '/' || *location == '\\' || strstr(location, "..") != NULL ||
         strchr(location, ':') != NULL;
}

static sb_status read_beside(const onnx_model *model, const onnx_tensor *weight, uint8_t *out, size_t length, sb_error *error)
{
  char *path;
  size_t got = 0;
  FILE *file;
  if (model->folder == NULL)
    return lost(error, weight, "its data lies in a file, and a model in memory has none beside it");
  if (leads_out(weight->location))
    return lost(error, weight, "its data lies outside the model's folder");
  path = (char *)malloc(strlen(model->folder) + strlen(weight->location) + 1);
  if (path == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for a path");
  strcpy(path, model->folder);
  strcat(path, weight->location);
  file = fopen(path, "rb");
  free(path);
  if (file == NULL)
    return fail(error, SB_NOT_FOUND, SB_WHY_MODEL, "weight '%s': its file %s%s cannot be opened", weight->name,
                model->folder, weight->location);
  if (weight->offset <= LONG_MAX && fseek(file, (long)weight->offset, SEEK_SET) == 0)
    got = fread(out, 1, length, file);
  fclose(file);
  return got == length ? SB_OK : lost(error, weight, "its file is too short");
}

/* ONNX stores numbers with the low byte first, whatever machine reads them. */
static void decode(const uint8_t *bytes, float *out, size_t count)
{
  size_t i;
  for (i = 0; i < count; i++, bytes += 4) {
    uint32_t bits = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    memcpy(&out[i], &bits, sizeof bits);
  }
}

sb_status weights_read(const onnx_model *model, const onnx_tensor *weight, size_t count, float **out, sb_error *error)
{
  size_t length = count * sizeof(float);
  sb_status status = SB_OK;
  float *numbers;
  if (weight->location == NULL && weight->raw == NULL && count > 0)
    return fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL,
                "weight '%s' is stored neither as raw_data nor as external data", weight->name);
  if (weight->location == NULL && weight->raw_length != length)
    return lost(error, weight, "its data is not as long as its shape says");
  if (weight->location != NULL && weight->length != 0 && weight->length != length)
    return lost(error, weight, "its external data is not as long as its shape says");
  numbers = (float *)malloc(length + 1);
  if (numbers == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for weight '%s'", weight->name);
  if (weight->location != NULL)
    status = read_beside(model, weight, (uint8_t *)numbers, length, error);
  else if (length > 0)
    memcpy(numbers, weight->raw, length);
  if (status != SB_OK) {
    free(numbers);
    return status;
  }
  decode((const uint8_t *)numbers, numbers, count);
  *out = numbers;
  return SB_OK;
}
