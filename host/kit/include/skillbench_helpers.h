/* skillbench_helpers.h: what every plugin in C99 needs, whatever it computes, as functions of a header alone. No library, no other file.
 *
 * Here live: filling structs and errors of the caller, the host's clock and its wish to stop, a model's file in memory, the fields of that
 * file where it is ONNX, and the operators of its graph that an engine lacks. Not here: what an operator computes. skillbench.h is the
 * contract; nothing here is part of it, so that a plugin may take from this file what it likes, and change it.
 *
 * Nothing here keeps state of its own: every function is [any]. It compiles as C++, too. */
#ifndef SKILLBENCH_HELPERS_H
#define SKILLBENCH_HELPERS_H

#include "skillbench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__GNUC__) /* the compiler holds what is printed against the format */
#define SBH_PRINTS(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define SBH_PRINTS(format_at, first_at)
#endif

/* Fills a struct of the caller. Its `size` says how much of it there is: an older host knows fewer fields than this plugin, a newer one
 * more. The size that is left says what was filled. Every struct that can grow begins with it. NULL: the caller wants nothing. */
static inline void sbh_fill(void *to, const void *from) {
  uint32_t size = *(const uint32_t *)from;
  if (to == NULL) return;
  if (*(uint32_t *)to < size) size = *(uint32_t *)to;
  memcpy(to, from, size);
  *(uint32_t *)to = size;
}

/* Fills the caller's error and returns its code, so that a slot can end with `return sbh_fail(...)`. `why` is made of SB_WHY_*, or 0. Say
 * what happened, where, and what to do next: this text is all that a user gets to see. */
SBH_PRINTS(4, 5) static inline sb_status sbh_fail(sb_error *error, sb_status code, uint32_t why, const char *format, ...) {
  sb_error made = {sizeof made, why, code, 0, ""};
  size_t end = sizeof made.message - 1;
  va_list arguments;
  int length;
  va_start(arguments, format);
  length = vsnprintf(made.message, sizeof made.message, format, arguments);
  va_end(arguments);
  if (length > (int)end) { /* too long: it is cut, but not within a character, since texts are UTF-8 */
    while (end > 0 && (made.message[end - 1] & 0xC0) == 0x80) end--;
    if (end > 0 && (made.message[end - 1] & 0x80) != 0) end--;
    made.message[end] = 0;
  }
  sbh_fill(error, &made);
  return code;
}

static inline sb_status sbh_no_memory(sb_error *error) {
  return sbh_fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is not enough memory");
}

/* The run's one clock; SB_UNKNOWN where the host has none. */
static inline uint64_t sbh_now(const sb_host *host) { return SB_CALL(sb_host, host, now_ns) ? host->now_ns(host->ctx) : SB_UNKNOWN; }

/* A long loop asks now and then, and returns SB_CANCELLED. */
static inline int sbh_stopping(const sb_host *host) { return SB_CALL(sb_host, host, stopping) && host->stopping(host->ctx) != 0; }

/* Whoever reads a file owns `bytes` and gives them to free(). Behind the last one there is room for one more, so that a text which ends
 * with the file can get its NUL. The struct stays where it is as long as spans of it are used. */
typedef struct sbh_file { uint8_t *bytes; size_t length; int damaged; } sbh_file;

/* Takes a copy of a source, which is a path or bytes of the caller. Where it fails, `out` holds nothing. */
static inline sb_status sbh_read(const sb_source *source, sbh_file *out, sb_error *error) {
  sb_status status = SB_OK;
  size_t room = 1 << 16;
  FILE *from;
  memset(out, 0, sizeof *out);
  if (!SB_HAS(sb_source, source, length)) return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "the host tells too little of a model's source");
  if (source->path == NULL) {
    if (source->length >= SIZE_MAX || (out->bytes = (uint8_t *)malloc((size_t)source->length + 1)) == NULL) return sbh_no_memory(error);
    out->length = (size_t)source->length;
    if (out->length > 0) memcpy(out->bytes, source->bytes, out->length);
    return SB_OK;
  }
  if ((from = fopen(source->path, "rb")) == NULL)
    return sbh_fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "%s cannot be opened: is it there, and may it be read?", source->path);
  for (;; room *= 2) { /* what a file says of its length is not believed: a folder and a pipe have none */
    uint8_t *more = (uint8_t *)realloc(out->bytes, room + 1);
    if (more == NULL) {
      status = sbh_no_memory(error);
      break;
    }
    out->bytes = more;
    out->length += fread(more + out->length, 1, room - out->length, from);
    if (out->length < room) break;
  }
  if (status == SB_OK && ferror(from))
    status = sbh_fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "%s cannot be read to its end", source->path);
  fclose(from);
  if (status != SB_OK) {
    free(out->bytes);
    memset(out, 0, sizeof *out);
  }
  return status;
}

/* A piece of a file: a message, a text or numbers. It is used where it lies, ends with no NUL, and lives as long as the file. `damaged` is
 * that of the file. */
typedef struct sbh_span { uint8_t *at, *end; int *damaged; } sbh_span;

/* An ONNX file is a protobuf message: a row of fields, each a number and what it holds, which may be a message again. No length in it is
 * believed: a field that reaches beyond its message marks the file as damaged, and nothing is found in it any more. So whoever reads a file
 * asks once, at the end, whether it was damaged. `wire` is 0 for an integer, which `value` has; 1 for eight bytes, 5 for four, and 2 for a
 * counted row of them. */
typedef struct sbh_field { uint64_t number, wire, value; sbh_span bytes; } sbh_field;

/* For "%.*s". No name in an error is longer than this, however long it is in the file. */
#define SBH_TEXT(span) (int)((span).end - (span).at < 200 ? (span).end - (span).at : 200), (const char *)(span).at

static inline sbh_span sbh_whole(sbh_file *file) {
  sbh_span whole;
  whole.at = file->bytes;
  whole.end = file->bytes + file->length;
  whole.damaged = &file->damaged;
  return whole;
}

static inline int sbh_same(sbh_span a, const void *bytes, size_t length) {
  return (size_t)(a.end - a.at) == length && (length == 0 || memcmp(a.at, bytes, length) == 0);
}
static inline int sbh_is(sbh_span a, const char *text) { return sbh_same(a, text, strlen(text)); }

/* Takes one integer off the front: seven bits a byte, the low ones first. */
static inline uint64_t sbh_varint(sbh_span *rest) {
  uint64_t number = 0;
  unsigned shift;
  for (shift = 0; shift < 64 && rest->at < rest->end; shift += 7) {
    number |= (uint64_t)(*rest->at & 0x7F) << shift;
    if (*rest->at++ < 0x80) return number;
  }
  *rest->damaged = 1;
  return 0;
}

/* The next field of this number, taken off the front with all before it. 0: there is no more. */
static inline int sbh_next(sbh_span *rest, uint64_t number, sbh_field *out) {
  while (rest->at < rest->end && !*rest->damaged) {
    uint64_t key = sbh_varint(rest), length;
    out->number = key >> 3;
    out->wire = key & 7;
    out->value = out->wire == 0 ? sbh_varint(rest) : 0;
    length = out->wire == 2 ? sbh_varint(rest) : out->wire == 5 ? 4 : out->wire == 1 ? 8 : 0;
    *rest->damaged |= out->wire == 3 || out->wire == 4 || out->wire > 5 || length > (uint64_t)(rest->end - rest->at);
    if (*rest->damaged) return 0;
    out->bytes = *rest;
    out->bytes.end = rest->at += length;
    if (out->number == number) return 1;
  }
  return 0;
}

/* The last field of this number, which is the one that counts. Where there is none it is empty, and its number is 0. */
static inline sbh_field sbh_get(sbh_span message, uint64_t number) {
  sbh_field found, one;
  memset(&found, 0, sizeof found);
  found.bytes = message;
  found.bytes.at = message.end;
  while (sbh_next(&message, number, &one)) found = one;
  return found;
}

/* The integers of a repeated field, such as dims (1) of a TensorProto, whether each is a field or a field packs a row of them. Puts the
 * first `room` of them into `to`, and returns how many there are. */
static inline size_t sbh_integers(sbh_span message, uint64_t number, int64_t *to, size_t room) {
  size_t count = 0;
  sbh_field one;
  while (sbh_next(&message, number, &one)) {
    *message.damaged |= one.wire != 0 && one.wire != 2;
    while (one.wire == 0 || one.bytes.at < one.bytes.end) {
      int64_t value = (int64_t)(one.wire == 0 ? one.value : sbh_varint(&one.bytes));
      if (count < room) to[count] = value;
      count++;
      if (one.wire == 0) break;
    }
  }
  return count;
}

/* Where a list that ends with NULL has the operator of a NodeProto, op_type (4) of domain (7); -1: nowhere. An operator of ONNX itself is
 * listed by its type, "MatMul", any other by domain and type, "com.microsoft.Gelu". */
static inline int sbh_operator(sbh_span node, const char *const *known) {
  sbh_span type = sbh_get(node, 4).bytes, domain = sbh_get(node, 7).bytes;
  size_t before = sbh_is(domain, "") || sbh_is(domain, "ai.onnx") ? 0 : (size_t)(domain.end - domain.at);
  int i;
  for (i = 0; known[i] != NULL; i++) {
    const char *name = known[i];
    if (before > 0) {
      if (strlen(name) <= before || memcmp(name, domain.at, before) != 0 || name[before] != '.') continue;
      name += before + 1;
    }
    if (sbh_is(type, name)) return i;
  }
  return -1;
}

/* Adds ", NAME, " to a list that begins and ends with ", ", unless it is in there. 0: it does not fit. */
static inline int sbh_enlist(char *list, size_t room, const char *name) {
  if (strstr(list, name) != NULL) return 1;
  if (strlen(list) + strlen(name + 2) >= room) return 0;
  strcat(list, name + 2);
  return 1;
}

/* Refuses a GraphProto, node (1), with operators that the list lacks, and names ALL of them, each once: whoever has to add them wants to
 * learn it in one go. Where an error has no room for all names, it says that there are others. Graphs within nodes, as If and Loop have
 * them, are not looked into. */
static inline sb_status sbh_check_operators(sbh_span graph, const char *const *known, sb_error *error) {
  char missing[400] = ", ", has[100] = ", ", name[420];
  int all = 1, all_known = 1;
  sbh_field node;
  while (sbh_next(&graph, 1, &node)) {
    sbh_span type = sbh_get(node.bytes, 4).bytes, domain = sbh_get(node.bytes, 7).bytes;
    if (sbh_operator(node.bytes, known) >= 0) continue;
    if (sbh_is(domain, "ai.onnx")) domain.end = domain.at;
    snprintf(name, sizeof name, ", %.*s%s%.*s, ", SBH_TEXT(domain), sbh_is(domain, "") ? "" : ".", SBH_TEXT(type));
    all &= sbh_enlist(missing, sizeof missing, name);
  }
  if (*graph.damaged) return sbh_fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, "it is no complete ONNX file");
  if (all && strlen(missing) == 2) return SB_OK;
  for (; *known != NULL && all_known; known++) {
    snprintf(name, sizeof name, ", %.200s, ", *known);
    all_known = sbh_enlist(has, sizeof has, name);
  }
  return sbh_fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL, "operators that this engine lacks: %.*s%s; it has %.*s%s",
                  (int)strlen(missing) - 4, missing + 2, all ? "" : ", and others",
                  (int)strlen(has) - 4, has + 2, all_known ? "" : ", ...");
}

#endif
