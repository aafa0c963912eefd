/* @NAME@: a skillbench skillset in one file of C99. It has one skill, a perceptron of two layers, and writes its ONNX file byte by byte.
 *
 * A skillset answers two questions: which models there are, as JSON, and where asked for one of them, what its files are. The host keeps
 * what was built, fills the inputs by the rules given here, and runs the model on every backend. The contract is skillbench.h;
 * what begins with sbh_ is in skillbench_helpers.h. */
#include "skillbench_helpers.h"

enum { INPUTS = 16, HIDDEN = 32, OUTPUTS = 8 };

/* The description, which is also skill.json. `content` changes whenever `build` would write something else, since the host keeps by it
 * what it built: other weights under the same content would make old and new results look comparable. Every input says how it is filled:
 * from the run's seed, so that all backends compute the same numbers. */
static const char skill[] =
  "{\n"
  "  \"schema\": \"skillbench.skill/1\",\n"
  "  \"id\": \"@NAME@-mlp\",\n"
  "  \"content\": \"@NAME@-mlp, first edition\",\n"
  "  \"family\": \"perceptron\",\n"
  "  \"architecture\": \"mlp\",\n"
  "  \"category\": \"example\",\n"
  "  \"task\": \"example\",\n"
  "  \"parameters\": 808,\n"
  "  \"parameters_read\": 808,\n"
  "  \"axes\": {\"batch\": [1, 64]},\n"
  "  \"flops\": [{\"value\": 1536, \"axes\": {\"batch\": 1}}],\n"
  "  \"weights\": \"pseudo-random, in the graph\",\n"
  "  \"parts\": [{\"name\": \"\", \"graph\": \"model.onnx\"}],\n"
  "  \"inputs\": [{\"part\": \"\", \"name\": \"x\", \"dtype\": \"f32\", \"dims\": [\"batch\", 16], \"fill\": \"normal\"}]\n"
  "}\n";

/* An ONNX file is a protobuf message: a row of fields, each a number and what it holds. Three kinds are enough here: an integer, a text,
 * and a message within the message, which is begun and ended. */
typedef struct writer {
  uint8_t bytes[8192];        /* more than twice of what this model needs */
  size_t length;
} writer;

static void varint(writer *to, uint64_t number)
{
  for (; number > 0x7F; number >>= 7)
    to->bytes[to->length++] = (uint8_t)(number | 0x80);
  to->bytes[to->length++] = (uint8_t)number;
}

static void integer(writer *to, unsigned field, uint64_t number)
{
  varint(to, field << 3);
  varint(to, number);
}

static void text(writer *to, unsigned field, const char *text)
{
  varint(to, field << 3 | 2);
  varint(to, strlen(text));
  memcpy(to->bytes + to->length, text, strlen(text));
  to->length += strlen(text);
}

static size_t begin(writer *to, unsigned field)
{
  varint(to, field << 3 | 2);
  return to->length;
}

/* A message's length stands before it and is known behind it: what was written since moves up and makes room. */
static void end(writer *to, size_t start)
{
  size_t length = to->length - start, moved;
  varint(to, length);
  moved = to->length - start - length;
  memmove(to->bytes + start + moved, to->bytes + start, length);
  to->length = start;
  varint(to, length);
  to->length += length;
}

/* NodeProto: input (1), output (2), op_type (4). */
static void node(writer *to, const char *op, const char *a, const char *b, const char *out)
{
  size_t node = begin(to, 1);
  text(to, 1, a);
  if (b != NULL)
    text(to, 1, b);
  text(to, 2, out);
  text(to, 4, op);
  end(to, node);
}

/* TensorProto: dims (1), data_type (2) where 1 is float32, name (8), raw_data (9). The numbers come from a generator with a fixed seed, so
 * that every build writes the same file; they are about as large as those of a trained layer, and none is zero or a denormal. */
static void weight(writer *to, const char *name, unsigned rows, unsigned columns, uint32_t *seed)
{
  size_t tensor = begin(to, 5), data;
  unsigned i;
  if (rows > 1)
    integer(to, 1, rows);
  integer(to, 1, columns);
  integer(to, 2, 1);
  text(to, 8, name);
  data = begin(to, 9);
  for (i = 0; i < rows * columns; i++, to->length += sizeof(float)) {
    float number;
    *seed = *seed * 1664525 + 1013904223;
    number = ((float)(*seed >> 8) + 0.5f) / 8388608.0f - 1.0f; /* between -1 and 1 */
    number *= 0.3f;
    memcpy(to->bytes + to->length, &number, sizeof number); /* the low byte first, as ONNX has it and every machine of today */
  }
  end(to, data);
  end(to, tensor);
}

/* ValueInfoProto: name (1), type (2) > tensor_type (1) > elem_type (1), shape (2) > dim (1) > dim_value (1) or dim_param (2). The batch is
 * named after the axis, so that the host knows which dimension it is. */
static void port(writer *to, unsigned field, const char *name, unsigned columns)
{
  size_t info = begin(to, field), type, tensor, shape, dim;
  text(to, 1, name);
  type = begin(to, 2);
  tensor = begin(to, 1);
  integer(to, 1, 1);
  shape = begin(to, 2);
  dim = begin(to, 1);
  text(to, 2, "batch");
  end(to, dim);
  dim = begin(to, 1);
  integer(to, 1, columns);
  end(to, dim);
  end(to, shape);
  end(to, tensor);
  end(to, type);
  end(to, info);
}

/* ModelProto: ir_version (1), producer_name (2), graph (7), opset_import (8). GraphProto: node (1), name (2), initializer (5), input (11),
 * output (12). */
static void model(writer *to)
{
  uint32_t seed = 1;
  size_t graph, opset;
  integer(to, 1, 8);
  text(to, 2, "@NAME@");
  graph = begin(to, 7);
  node(to, "MatMul", "x", "w1", "a");
  node(to, "Add", "a", "b1", "b");
  node(to, "Relu", "b", NULL, "c");
  node(to, "MatMul", "c", "w2", "d");
  node(to, "Add", "d", "b2", "y");
  text(to, 2, "mlp");
  weight(to, "w1", INPUTS, HIDDEN, &seed);
  weight(to, "b1", 1, HIDDEN, &seed);
  weight(to, "w2", HIDDEN, OUTPUTS, &seed);
  weight(to, "b2", 1, OUTPUTS, &seed);
  port(to, 11, "x", INPUTS);
  port(to, 12, "y", OUTPUTS);
  end(to, graph);
  opset = begin(to, 8);
  integer(to, 2, 17);
  end(to, opset);
}

static sb_status write_file(const char *directory, const char *name, const void *bytes, size_t length, sb_error *error)
{
  size_t room = strlen(directory) + strlen(name) + 2;
  char *path = (char *)malloc(room);
  FILE *file = NULL;
  int written;
  if (path != NULL) {
    snprintf(path, room, "%s/%s", directory, name);
    file = fopen(path, "wb");
  }
  free(path);
  written = file != NULL && fwrite(bytes, 1, length, file) == length;
  if (file != NULL && fclose(file) != 0)
    written = 0;
  return written ? SB_OK : sbh_fail(error, SB_RESOURCE_EXHAUSTED, 0, "%s/%s cannot be written: is the disk full?", directory, name);
}

/* [any] Writes the files of a skill into an empty folder, skill.json last. A build that takes long polls `host->stopping` and tells
 * `host->phase` how far it is; this one is done at once. */
static sb_status build(const sb_host *host, const char *id, const sb_options *options, const char *directory, sb_error *error)
{
  writer to;
  sb_status status;
  (void)host;
  (void)options;
  if (strcmp(id, "@NAME@-mlp") != 0)
    return sbh_fail(error, SB_NOT_FOUND, 0, "there is no skill '%s' here, only @NAME@-mlp", id);
  to.length = 0;
  model(&to);
  status = write_file(directory, "model.onnx", to.bytes, to.length, error);
  return status == SB_OK ? write_file(directory, "skill.json", skill, sizeof skill - 1, error) : status;
}

/* [any] Cheap: nothing is built to describe it. NULL beyond the end. */
static uint32_t count(void) { return 1; }
static const char *describe(uint32_t index) { return index == 0 ? skill : NULL; }

static const sb_skillset skillset = {sizeof(sb_skillset), 0, "@NAME@", "A perceptron of two layers", count, describe, build};

/* [any] */
static const void *factory(const char *id) { return strcmp(id, SB_SKILLSET) == 0 ? &skillset : NULL; }

/* The one symbol that the host looks up. */
const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, "@NAME@", "@NAME@", "0.1.0", NULL, NULL, NULL, /* id, name, version, vendor, license, url */
  NULL, factory, SB_ABI_MINOR, 0};                                                /* init, factory, the minor of this header, flags */
