#include "protobuf.h"

int pb_varint(pb_span *rest, uint64_t *out)
{
  unsigned shift;
  *out = 0;
  for (shift = 0; shift < 64 && rest->at < rest->end; shift += 7) {
    uint8_t byte = *rest->at++;
    *out |= (uint64_t)(byte & 0x7F) << shift;
    if (byte < 0x80)
      return 1;
  }
  return 0;
}

static int fixed(pb_span *rest, size_t bytes, uint64_t *out)
{
  size_t i;
  if ((size_t)(rest->end - rest->at) < bytes)
    return 0;
  *out = 0;
  for (i = 0; i < bytes; i++)
    *out |= (uint64_t)rest->at[i] << (8 * i);
  rest->at += bytes;
  return 1;
}

int pb_next(pb_span *rest, pb_field *out)
{
  uint64_t key, length;
  int whole = 0;
  if (rest->at == rest->end)
    return 0;
  out->value = 0;
  out->bytes.at = out->bytes.end = rest->end;
  if (!pb_varint(rest, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
    return -1;
  out->number = (uint32_t)(key >> 3);
  out->wire = (uint32_t)(key & 7);
  if (out->wire == PB_VARINT)
    whole = pb_varint(rest, &out->value);
  if (out->wire == PB_FIXED64)
    whole = fixed(rest, 8, &out->value);
  if (out->wire == PB_FIXED32)
    whole = fixed(rest, 4, &out->value);
  if (out->wire == PB_BYTES && pb_varint(rest, &length) && length <= (uint64_t)(rest->end - rest->at)) {
    out->bytes.at = rest->at;
    out->bytes.end = rest->at += (size_t)length;
    whole = 1;
  }
  return whole ? 1 : -1;
}

size_t pb_count(pb_span message, uint32_t number)
{
  pb_field field;
  size_t count = 0;
  while (pb_next(&message, &field) > 0)
    count += field.number == number;
  return count;
}

int pb_numbers(pb_span message, uint32_t number, int64_t *out, uint32_t *count)
{
  pb_field field;
  uint64_t value;
  int more;
  *count = 0;
  while ((more = pb_next(&message, &field)) > 0) {
    if (field.number != number)
      continue;
    if (field.wire == PB_VARINT) {
      if (out != NULL)
        out[*count] = (int64_t)field.value;
      ++*count;
    }
    while (field.bytes.at < field.bytes.end) {
      if (!pb_varint(&field.bytes, &value))
        return 0;
      if (out != NULL)
        out[*count] = (int64_t)value;
      ++*count;
    }
  }
  return more == 0;
}
