/* @NAME@: a skillbench backend in one file of C99. It computes ONNX graphs of MatMul, Gemm, Add and Relu in float32 on the CPU.
 *
 * Read from the end, it is what the host sees: the exported symbol, the table behind it, and the slots of that table, which the host
 * calls in this order: open, device, load, port, request, bind, run, output. Read from the start, it is an engine that reads a graph and
 * computes it. The engine is there to be replaced by yours; the slots are there to stay.
 *
 * skillbench.h is the contract. What matters of it is said again beside each slot: [main] is called on one thread, [any] on several at
 * once, [lane] on one at a time for each request. What begins with sbh_ is in skillbench_helpers.h: it fills structs and errors of the
 * caller, and reads ONNX files. */
#include "skillbench_helpers.h"

/* What is wrong with a model, and what the engine lacks for it. */
#define BROKEN(...) sbh_fail(error, SB_INVALID_ARGUMENT, SB_WHY_MODEL, __VA_ARGS__)
#define LACKING(...) sbh_fail(error, SB_UNIMPLEMENTED, SB_WHY_MODEL, __VA_ARGS__)

typedef enum { WEIGHT, INPUT, MATMUL, GEMM, ADD, RELU } operation;
static const char *const operators[] = {"MatMul", "Gemm", "Add", "Relu", NULL}; /* as above, from MATMUL on */
static const uint32_t least[] = {2, 2, 2, 1}, most[] = {2, 3, 2, 1};            /* how many operands each takes */

/* Memory for what a step makes, in the form in which it can be given away. The numbers follow. */
typedef struct block { sb_owned owned; int64_t shape[2]; size_t size; } block;

/* A tensor of the graph, and what makes it: left * right + bias, or a part of that. A row of N numbers counts as [1, N]. */
typedef struct value {
  operation op;
  uint32_t operands, in[3];   /* which values it is made from; they come before it */
  int transposed;             /* the right operand of Gemm */
  sbh_span names[3];          /* its own, and those of its dimensions; `texts` are the same, once the whole file is read */
  const char *texts[3];
  int64_t dims[2];            /* -1: known when a run begins */
  uint8_t *data;              /* in the file, in `result`, or where the caller wants it; it may be aligned to nothing */
  block *result;              /* memory of the request, until the caller takes it */
  int64_t bound[2];           /* the shape of the caller's memory for an output; -1: there is none */
} value;

/* What the handles point to. A model does not change once it is loaded, so that its requests may run at once. */
static struct sb_instance { const sb_host *host; } opened;
struct sb_model { sbh_file file; value *values; uint32_t *ports[2], port_counts[2], value_count, nodes; uint64_t read_ns; };
struct sb_request { sb_model *model; value *values; int has_run; };

/* The number of the first value of this name; how many there are, where none has it. */
static uint32_t find(const sb_model *model, sbh_span name) {
  uint32_t i = 0;
  while (i < model->value_count && !sbh_same(model->values[i].names[0], name.at, (size_t)(name.end - name.at))) i++;
  return i;
}

static float at(const value *of, int64_t row, int64_t column) {
  int64_t index = (of->dims[0] == 1 ? 0 : row) * of->dims[1] + (of->dims[1] == 1 ? 0 : column);
  float number; /* a file has the low byte first, as every machine of today */
  memcpy(&number, of->data + (size_t)index * sizeof number, sizeof number);
  return number;
}

static int is_product(const value *of) { return of->op == MATMUL || of->op == GEMM; }

/* Computes a value whose shape is known. As simple as it can be: your kernels go here. */
static void compute(const value *values, const value *out) {
  const value *left = &values[out->in[0]], *right = &values[out->in[1]], *bias = &values[out->in[out->op == ADD ? 1 : 2]];
  uint8_t *to = out->data;
  int64_t row, column, k;
  for (row = 0; row < out->dims[0]; row++)
    for (column = 0; column < out->dims[1]; column++, to += sizeof(float)) {
      float sum = is_product(out) ? 0 : at(left, row, column);
      for (k = 0; is_product(out) && k < left->dims[1]; k++)
        sum += at(left, row, k) * (out->transposed ? at(right, column, k) : at(right, k, column));
      if (out->op == ADD || out->operands == 3) sum += at(bias, row, column);
      if (out->op == RELU && sum < 0) sum = 0; /* NaN stays NaN */
      memcpy(to, &sum, sizeof sum);
    }
}

static int agree(int64_t a, int64_t b) { return a == b || a == -1 || b == -1; }

/* The shape of a value: asked at load with what is known then, and again in each run. 0: what it is made from does not fit together. A
 * bias is repeated over the rest where it has one row or one column. */
static int infer(const value *values, value *out) {
  const value *left = &values[out->in[0]], *right = &values[out->in[1]], *bias = &values[out->in[out->op == ADD ? 1 : 2]];
  int i, fits = !is_product(out) || agree(left->dims[1], right->dims[out->transposed]);
  out->dims[0] = left->dims[0];
  out->dims[1] = is_product(out) ? right->dims[!out->transposed] : left->dims[1];
  for (i = 0; i < 2 && (out->op == ADD || out->operands == 3); i++) fits &= bias->dims[i] == 1 || agree(bias->dims[i], out->dims[i]);
  return fits;
}

/* TensorProto: dims (1), data_type (2), float_data (4), name (8), raw_data (9). */
static sb_status read_weight(sbh_span tensor, value *made, sb_error *error) {
  sbh_span raw = sbh_get(tensor, 9).bytes;
  int64_t count, dims[2] = {1, 1};
  size_t rank = sbh_integers(tensor, 1, dims, 2);
  if (raw.at == raw.end) raw = sbh_get(tensor, 4).bytes; /* a packed row of floats is the same bytes */
  count = (raw.end - raw.at) / (int64_t)sizeof(float);
  made->data = raw.at;
  made->names[0] = sbh_get(tensor, 8).bytes;
  made->dims[0] = rank == 2 ? dims[0] : 1;
  made->dims[1] = dims[rank == 2];
  if (rank > 2 || sbh_get(tensor, 2).value != 1)
    return LACKING("weight '%.*s': this engine takes float32 of rank 2 or less", SBH_TEXT(made->names[0]));
  if (made->dims[0] < 0 || made->dims[1] < 0 || made->dims[0] > count || made->dims[1] > count || made->dims[0] * made->dims[1] != count)
    return BROKEN("weight '%.*s': its numbers are not all in the file", SBH_TEXT(made->names[0]));
  return SB_OK;
}

/* NodeProto: input (1), output (2), op_type (4), attribute (5). AttributeProto: name (1), f (2), i (3). */
static sb_status read_node(sb_model *model, sbh_span node, value *made, sb_error *error) {
  sbh_span rest = node;
  sbh_field field;
  int kind = sbh_operator(node, operators);
  made->names[0] = sbh_get(node, 2).bytes;
  made->op = (operation)(MATMUL + kind);
  made->bound[0] = -1;
  while (sbh_next(&rest, 5, &field)) {
    sbh_span name = sbh_get(field.bytes, 1).bytes, number = sbh_get(field.bytes, 2).bytes;
    int is_set = sbh_get(field.bytes, 3).value != 0;
    made->transposed |= is_set && sbh_is(name, "transB");
    if ((is_set && sbh_is(name, "transA")) || (number.at != number.end && !sbh_same(number, "\0\0\x80\x3F", 4))) /* 1, as float32 */
      return LACKING("'%.*s': this engine has no Gemm with %.*s", SBH_TEXT(made->names[0]), SBH_TEXT(name));
  }
  for (rest = node; sbh_next(&rest, 1, &field);) {
    uint32_t from = find(model, field.bytes);
    if (sbh_is(field.bytes, "")) continue; /* an optional one that is left out */
    if (from == model->value_count || made->operands == 3) return BROKEN("nothing makes '%.*s', which a node reads", SBH_TEXT(field.bytes));
    made->in[made->operands++] = from;
  }
  if (made->op == ADD && model->values[made->in[0]].op == WEIGHT) { /* what is added to the other is the smaller of the two */
    uint32_t weight = made->in[0];
    made->in[0] = made->in[1];
    made->in[1] = weight;
  }
  if (kind < 0 || made->operands < least[kind] || made->operands > most[kind] || !infer(model->values, made))
    return BROKEN("'%.*s': what it is made from does not fit together", SBH_TEXT(made->names[0]));
  model->nodes++;
  return SB_OK;
}

/* ValueInfoProto: name (1), type (2); in that tensor_type (1); in that elem_type (1) and shape (2); in that dim (1); in that dim_value (1)
 * or dim_param (2). An output is a value that is there already, and gets the names of its dimensions. */
static sb_status read_port(sb_model *model, sbh_span info, int direction, sb_error *error) {
  sbh_span name = sbh_get(info, 1).bytes, type = sbh_get(sbh_get(info, 2).bytes, 1).bytes, shape = sbh_get(type, 2).bytes;
  uint32_t number = find(model, name), rank = 0;
  value *made = &model->values[number];
  sbh_field dim;
  if (direction == SB_INPUT && number < model->value_count) return SB_OK; /* old files name weights among the inputs, too */
  if (direction == SB_OUTPUT && (number == model->value_count || made->op <= INPUT))
    return BROKEN("no node makes the output '%.*s'", SBH_TEXT(name));
  made->names[0] = name;
  for (; sbh_next(&shape, 1, &dim) && rank < 2; rank++) {
    sbh_field length = sbh_get(dim.bytes, 1);
    made->names[1 + rank] = sbh_get(dim.bytes, 2).bytes;
    if (direction == SB_INPUT) made->dims[rank] = length.number != 0 && length.value <= INT64_MAX ? (int64_t)length.value : -1;
  }
  model->ports[direction][model->port_counts[direction]++] = number;
  if (direction == SB_OUTPUT) return SB_OK;
  made->op = INPUT;
  model->value_count++;
  return rank == 2 && shape.at == shape.end && sbh_get(type, 1).value == 1 ? SB_OK
    : LACKING("input '%.*s': this engine takes float32 of rank 2", SBH_TEXT(name));
}

/* ModelProto: graph (7). GraphProto: node (1), initializer (5), input (11), output (12). What others are made from is read first. */
static sb_status read_model(sb_model *model, sb_error *error) {
  static const uint64_t passes[4] = {5, 11, 1, 12};
  sbh_span graph = sbh_get(sbh_whole(&model->file), 7).bytes, rest;
  sb_status status = sbh_check_operators(graph, operators, error);
  uint32_t pass, i, count = 1;
  sbh_field found;
  if (status != SB_OK) return status;
  for (pass = 0; pass < 4; pass++)
    for (rest = graph; sbh_next(&rest, passes[pass], &found);) count++;
  model->values = (value *)calloc(count, sizeof *model->values);
  model->ports[SB_INPUT] = (uint32_t *)calloc(count, 2 * sizeof **model->ports);
  if (model->values == NULL || model->ports[SB_INPUT] == NULL) return sbh_no_memory(error);
  model->ports[SB_OUTPUT] = model->ports[SB_INPUT] + count;
  for (pass = 0; pass < 4; pass++)
    for (rest = graph; status == SB_OK && sbh_next(&rest, passes[pass], &found);) {
      value *made = &model->values[model->value_count];
      if (pass % 2 == 1) status = read_port(model, found.bytes, pass / 2, error);
      else status = pass == 0 ? read_weight(found.bytes, made, error) : read_node(model, found.bytes, made, error);
      model->value_count += pass % 2 == 0 && status == SB_OK;
    }
  if (model->file.damaged || (status == SB_OK && model->port_counts[SB_OUTPUT] == 0)) return BROKEN("it is no complete ONNX file");
  for (i = 0; i < model->value_count * 3; i++) { /* the byte behind a name began the next field; now it ends a text of C */
    sbh_span name = model->values[i / 3].names[i % 3];
    if (name.at == NULL) continue;
    *name.end = 0;
    model->values[i / 3].texts[i % 3] = (const char *)name.at;
  }
  return status;
}

/* [main] Opens the runtime. A vendor's library is loaded here, with dlopen; where there is none this says SB_UNAVAILABLE, what was looked
 * for, where, and how to install it. The options were checked against the schema below. The host outlives every handle. */
static sb_status open_instance(const sb_host *host, const sb_options *options, sb_instance **out, sb_error *error) {
  (void)options, (void)error;
  opened.host = host;
  *out = &opened;
  return SB_OK;
}

/* [main] No model is alive. */
static void close_instance(sb_instance *instance) { (void)instance; }

static uint32_t device_count(sb_instance *instance) { return instance != NULL ? 1 : 0; }

/* [any] A device that is known of but cannot be used is told too: with `why`, and in `reason` what was looked at. */
static sb_status device(sb_instance *instance, uint32_t index, sb_device *out, sb_error *error) {
  static const sb_device cpu = {sizeof cpu, SB_CPU, 0, 0, {SB_HOST_MEMORY, 0}, SB_UNKNOWN, "cpu0", "The CPU, in plain C", "", "", "", ""};
  if (index >= device_count(instance)) return sbh_fail(error, SB_NOT_FOUND, SB_WHY_DEVICE, "there is no device %u", (unsigned)index);
  sbh_fill(out, &cpu);
  return SB_OK;
}

/* [any] No request is alive. */
static void unload(sb_model *model) {
  free(model->ports[SB_INPUT]);
  free(model->values);
  free(model->file.bytes);
  free(model);
}

/* [any] What is asked for is done or refused, never ignored: a figure of the wrong precision is worse than none. All that `load` points to
 * is borrowed until the call returns. */
static sb_status load_model(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error) {
  uint64_t start = sbh_now(opened.host);
  sb_status status;
  sb_model *made;
  if (!SB_HAS(sb_load, load, device_count)) return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "the host tells too little of a load");
  if (load->precision != NULL && strcmp(load->precision, "float32") != 0)
    return sbh_fail(error, SB_UNIMPLEMENTED, SB_WHY_PRECISION, "precision '%s': this engine computes in float32", load->precision);
  if (load->device_count > 0 && load->devices[0] >= device_count(instance))
    return sbh_fail(error, SB_NOT_FOUND, SB_WHY_DEVICE, "there is no device %u", (unsigned)load->devices[0]);
  if (load->source->format == NULL || strcmp(load->source->format, "onnx") != 0) return LACKING("this engine reads ONNX files");
  if ((made = (sb_model *)calloc(1, sizeof *made)) == NULL) return sbh_no_memory(error);
  status = sbh_read(load->source, &made->file, error);
  if (status == SB_OK) status = read_model(made, error);
  made->read_ns = start == SB_UNKNOWN ? SB_UNKNOWN : sbh_now(opened.host) - start;
  if (status == SB_OK && out != NULL) *out = made;
  else unload(made);
  return status;
}

/* [any] Why a load would not work, as far as it can be told without compiling. Here reading is all that there is to it. */
static sb_status supports(sb_instance *instance, const sb_load *load, sb_error *error) { return load_model(instance, load, NULL, error); }

/* [any] Reads back what happened, never what was asked for. An engine that leaves nodes to another device says so here. */
static sb_status placement(sb_model *model, sb_placement *out, sb_error *error) {
  sb_placement told = {sizeof told, 0, model->nodes, model->nodes, SB_UNKNOWN, model->read_ns, SB_UNKNOWN, SB_UNKNOWN,
                       "float32", "cpu0", "@NAME@ 0.1.0"}; /* unknown: it has no cache, compiles nothing, uploads nothing */
  (void)error;
  sbh_fill(out, &told);
  return SB_OK;
}

static uint32_t port_count(sb_model *model, int32_t direction) { return model->port_counts[direction]; }

/* [any] What the port points to lives until the model is unloaded. */
static sb_status port(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error) {
  const value *of = index < port_count(model, direction) ? &model->values[model->ports[direction][index]] : NULL;
  sb_port told = {sizeof told, 2, NULL, NULL, NULL, {SB_FLOAT, 32, 1}, 0};
  if (of == NULL) return sbh_fail(error, SB_NOT_FOUND, 0, "the model has no port %u there", (unsigned)index);
  told.name = of->texts[0];
  told.shape = of->dims;
  told.dim_names = of->texts + 1;
  sbh_fill(out, &told);
  return SB_OK;
}

/* [any] A request has values of its own, with the weights of the model. */
static sb_status request(sb_model *model, sb_request **out, sb_error *error) {
  sb_request *made = (sb_request *)malloc(sizeof *made + model->value_count * sizeof(value));
  if (made == NULL) return sbh_no_memory(error);
  made->model = model;
  made->has_run = 0;
  made->values = (value *)memcpy(made + 1, model->values, model->value_count * sizeof(value));
  *out = made;
  return SB_OK;
}

/* [lane] Outputs that were taken live on. */
static void release(sb_request *request) {
  uint32_t i;
  for (i = 0; i < request->model->value_count; i++) free(request->values[i].result);
  free(request);
}

/* [lane] The struct is copied, the data is borrowed until the port is bound again: an input is read in the run, an output written in it.
 * NULL for an output: the backend allocates. */
static sb_status bind(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor, const sb_place *place,
                      sb_error *error) {
  uint32_t number = index < port_count(request->model, direction) ? request->model->ports[direction][index] : 0, i;
  const value *port = &request->model->values[number];
  value *to = &request->values[number];
  if (index >= port_count(request->model, direction))
    return sbh_fail(error, SB_NOT_FOUND, 0, "the model has no port %u there", (unsigned)index);
  if ((tensor != NULL ? tensor->place.type : place != NULL ? place->type : SB_HOST_MEMORY) != SB_HOST_MEMORY)
    return sbh_fail(error, SB_UNIMPLEMENTED, 0, "'%s': this engine reads and writes memory of the host", port->texts[0]);
  if (tensor == NULL ? direction == SB_INPUT : tensor->data == NULL || tensor->strides != NULL || tensor->ndim != 2 ||
      tensor->dtype.code != SB_FLOAT || tensor->dtype.bits != 32 || tensor->dtype.lanes != 1)
    return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "'%s' takes a dense tensor of float32, of rank 2", port->texts[0]);
  for (i = 0; tensor != NULL && i < 2; i++)
    if (!agree(port->dims[i], tensor->shape[i]))
      return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "'%s': dimension %u is not %ld", port->texts[0], (unsigned)i, (long)tensor->shape[i]);
  for (i = 0; i < 2; i++) (direction == SB_INPUT ? to->dims : to->bound)[i] = tensor != NULL ? tensor->shape[i] : -1;
  to->data = tensor != NULL ? (uint8_t *)tensor->data + tensor->byte_offset : NULL;
  free(to->result);
  to->result = NULL;
  return SB_OK;
}

static void release_block(sb_owned *owned) { free(owned->owner); }

/* Memory for a value of known shape, if it has none: the caller has bound none, or took it after the last run. */
static sb_status make_room(value *of, sb_error *error) {
  size_t size = (size_t)of->dims[0] * (size_t)of->dims[1] * sizeof(float);
  if (of->bound[0] != -1)
    return of->bound[0] == of->dims[0] && of->bound[1] == of->dims[1] ? SB_OK
      : sbh_fail(error, SB_INVALID_ARGUMENT, 0, "'%s': the memory bound to it has another shape", of->texts[0]);
  if (of->dims[1] > 0 && (uint64_t)of->dims[0] > SIZE_MAX / 8 / (uint64_t)of->dims[1]) return sbh_no_memory(error);
  if (of->result == NULL || of->result->size != size) {
    free(of->result);
    if ((of->result = (block *)malloc(sizeof *of->result + size)) == NULL) return sbh_no_memory(error);
    of->result->size = size;
  }
  of->data = (uint8_t *)(of->result + 1);
  return SB_OK;
}

/* [lane] Returns when the outputs can be read. A run that fails computes nothing and leaves no output. */
static sb_status run(sb_request *request, sb_timing *timing, sb_error *error) {
  sb_timing told = {sizeof told, 0, SB_UNKNOWN, sbh_now(opened.host), 0, SB_UNKNOWN, SB_UNKNOWN, SB_UNKNOWN};
  sb_status status = SB_OK;
  uint32_t i;
  request->has_run = 0;
  for (i = 0; i < request->model->value_count; i++) {
    value *of = &request->values[i];
    if (of->op == INPUT && of->data == NULL) return sbh_fail(error, SB_FAILED_PRECONDITION, 0, "input '%s' is not bound", of->texts[0]);
    if (of->op > INPUT && !infer(request->values, of))
      return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "the inputs do not fit together, at '%s'", of->texts[0]);
    if (of->op > INPUT) status = make_room(of, error);
    if (status != SB_OK) return status;
  }
  for (i = 0; i < request->model->value_count; i++) {
    if (sbh_stopping(opened.host)) return sbh_fail(error, SB_CANCELLED, 0, "stopped");
    if (request->values[i].op > INPUT) compute(request->values, &request->values[i]);
  }
  told.end_ns = sbh_now(opened.host);
  sbh_fill(timing, &told);
  request->has_run = 1;
  return SB_OK;
}

/* [lane] Gives an output of the last run away, once. The caller releases it on any thread, before the model is unloaded. */
static sb_status output(sb_request *request, uint32_t index, sb_owned **out, sb_error *error) {
  value *of = index < port_count(request->model, SB_OUTPUT) ? &request->values[request->model->ports[SB_OUTPUT][index]] : NULL;
  sb_owned given = {{NULL, {SB_HOST_MEMORY, 0}, 2, {SB_FLOAT, 32, 1}, NULL, NULL, 0}, NULL, release_block};
  if (of == NULL) return sbh_fail(error, SB_NOT_FOUND, 0, "the model has no output %u", (unsigned)index);
  if (!request->has_run || of->result == NULL)
    return sbh_fail(error, SB_FAILED_PRECONDITION, 0, "'%s' holds nothing to take", of->texts[0]);
  memcpy(of->result->shape, of->dims, sizeof of->dims);
  given.tensor.data = of->data;
  given.tensor.shape = of->result->shape;
  given.owner = of->result;
  *out = &of->result->owned;
  **out = given;
  of->result = NULL; /* the next run makes another one */
  return SB_OK;
}

/* By position, so that the compiler holds each slot against its type. NULL: this backend does not have it; which may be NULL says
 * skillbench.h. The schema is closed: the host refuses an option that is not in it. */
static const sb_backend backend = {
  sizeof(sb_backend), 0, "@NAME@", "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
  open_instance, close_instance, device_count, device, supports, load_model, unload, placement, port_count, port,
  NULL, NULL,                                 /* allocate, copy: only memory of the host is bound */
  request, release, bind,
  NULL, NULL,                                 /* alias, reset: nothing is kept from run to run */
  run, output,
  NULL, NULL, NULL, NULL};                    /* submit, cancel, memory, extension */

static const void *factory(const char *id) { return strcmp(id, SB_BACKEND) == 0 ? &backend : NULL; }

/* The one symbol that the host looks up. The library is described without a device being touched. */
const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, "@NAME@", "@NAME@", "0.1.0", NULL, NULL, NULL, /* id, name, version, vendor, license, url */
  NULL, factory, SB_ABI_MINOR, 0};                                                /* init, factory, the minor of this header, flags */
