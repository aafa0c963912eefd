/* The protobuf wire format: a message is a row of numbered fields, each a number or a stretch of bytes. */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

typedef struct pb_span { const uint8_t *at, *end; } pb_span;

typedef struct pb_field {
  uint32_t number;
  uint32_t wire;
  uint64_t value;             /* of a number, as its bits; else 0 */
  pb_span bytes;              /* of a text, a message or a packed list; else empty */
} pb_field;

/* Takes the next field off the front of `rest`. 1: there is one; 0: the message is over; -1: it is broken. */
int pb_next(pb_span *rest, pb_field *out);

/* Takes a number off the front of `rest`; 0 where it is broken. */
int pb_varint(pb_span *rest, uint64_t *out);

/* How many fields of this number a message has. */
size_t pb_count(pb_span message, uint32_t number);

/* Reads a repeated number into `out`, one field for each or packed into one; 0 where it is broken.
 * With `out` NULL it only counts them. */
int pb_numbers(pb_span message, uint32_t number, int64_t *out, uint32_t *count);

#endif
