/* skillbench.h: the contract between the skillbench host and its plugins. Version 1.1. Plain C99, no other file needed.
 *
 * A plugin is a shared library that exports ONE data symbol, `skillbench_plugin` (the last declaration of this file).
 * Everything else is reached from it, through tables of function pointers that are asked for by id.
 *
 * Growth    A struct that can grow starts with `size` and only ever gets fields appended. It is passed by pointer, never
 *           by value, and is never an element of an array: arrays hold pointers, or elements marked "frozen".
 *           Whoever provides a struct sets `size` to its own sizeof. Whoever reads it asks SB_HAS before a field, SB_CALL
 *           before a slot. A struct that the callee fills is zeroed by the caller, who sets `size`; the callee writes only
 *           below that size and lowers `size` to what it filled.
 *           An id never changes its meaning: a new meaning is a new id. What came after 1.0 says since when.
 * Unknown   is SB_UNKNOWN for a number, NULL or "" for a text; never 0. A slot that may be missing is NULL.
 * Threads   [any]  may be called from several threads at once.
 *           [main] is called on the worker's control thread only.
 *           [lane] one thread at a time per request; different requests may run at once.
 * Memory    Text is UTF-8 and ends with NUL. A const char * in a table lives as long as the library. What a caller passes in
 *           is borrowed until the call returns, unless the slot says longer. Who creates a handle destroys it with the
 *           slot named beside it.
 * Errors    A failing call returns a status other than SB_OK and fills the CALLER's sb_error. It leaves every handle as it was.
 * Never     let an exception or a panic cross a slot, call exit(), or write to stdout. Link no vendor runtime: load it in `open`,
 *           so that looking at a plugin stays cheap and safe. The library is never unloaded; its worker process ends.
 */
#ifndef SKILLBENCH_H
#define SKILLBENCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define SB_EXPORT __declspec(dllexport)
#else
#define SB_EXPORT __attribute__((visibility("default")))
#endif

#define SB_ABI_MAJOR 1u /* another one is another contract: a host refuses the plugin */
#define SB_ABI_MINOR 1u /* what was appended; hosts and plugins of different minors fit together */

/* What sb_plugin.factory and sb_backend.extension can be asked for. */
#define SB_BACKEND    "skillbench.backend/1"    /* runs models on hardware               -> const sb_backend *    */
#define SB_BENCHMARKS "skillbench.benchmarks/1" /* measure a target, or just a function  -> const sb_benchmarks * */
#define SB_SKILLSET   "skillbench.skillset/1"   /* describes and builds models           -> const sb_skillset *   */
#define SB_POWER      "skillbench.power/1"      /* optional, from an instance            -> const sb_power *      */
#define SB_COUNTERS   "skillbench.counters/1"   /* optional, from an instance            -> const sb_counters *   */
#define SB_PROFILE    "skillbench.profile/1"    /* optional, from an instance            -> const sb_profile *    */

#define SB_UNKNOWN UINT64_MAX

/* Does the struct at `p`, of type `T`, reach as far as field `f`? Can its slot `f` be called? */
#define SB_HAS(T, p, f)  ((p)->size >= offsetof(T, f) + sizeof((p)->f))
#define SB_CALL(T, p, f) (SB_HAS(T, p, f) && (p)->f != NULL)

/* ---- status and error --------------------------------------------------------------------------------------------- */

typedef int32_t sb_status;
enum {
  SB_OK = 0,
  SB_CANCELLED = 1,
  SB_INVALID_ARGUMENT = 3,
  SB_DEADLINE_EXCEEDED = 4,
  SB_NOT_FOUND = 5,
  SB_RESOURCE_EXHAUSTED = 8,
  SB_FAILED_PRECONDITION = 9,
  SB_UNIMPLEMENTED = 12,      /* the engine cannot do this: an operator, a precision, a kind of binding */
  SB_INTERNAL = 13,
  SB_UNAVAILABLE = 14,        /* no usable runtime, driver or device on this machine */
  SB_WRONG_OUTPUT = 100       /* outputs are outside their tolerance */
};

/* What stands in the way, as bits of sb_error.why and sb_device.why. */
enum {
  SB_WHY_PLATFORM = 1,
  SB_WHY_RUNTIME = 2,
  SB_WHY_DRIVER = 4,
  SB_WHY_DEVICE = 8,
  SB_WHY_MODEL = 16,
  SB_WHY_MEMORY = 32,         /* with SB_RESOURCE_EXHAUSTED, of a load or a run: the host tries a smaller batch */
  SB_WHY_PRECISION = 64
};

typedef struct sb_error {
  uint32_t size, why;
  sb_status code;
  int32_t vendor_code;        /* the runtime's own number, 0 where it has none */
  char message[496];          /* what happened, where, and what to do next */
} sb_error;

typedef struct sb_option { const char *key, *value; } sb_option; /* frozen. Dotted keys; scalars as text, objects as JSON */
typedef struct sb_options {
  uint32_t size, count;
  const sb_option *items;     /* `count` of them */
} sb_options;

/* ---- tensors: laid out as DLPack 1.x lays out DLDevice, DLDataType and DLTensor ------------------------------------ */

typedef struct sb_place { int32_t type, id; } sb_place;                        /* frozen. {1, 0} is host memory */
typedef struct sb_dtype { uint8_t code, bits; uint16_t lanes; } sb_dtype;      /* frozen. Below 8 bits: packed, low bits first */
enum { SB_HOST_MEMORY = 1 };                                                   /* sb_place.type; others as in DLDeviceType */
enum { SB_INT = 0, SB_UINT = 1, SB_FLOAT = 2, SB_BFLOAT = 4, SB_COMPLEX = 5, SB_BOOL = 6 }; /* sb_dtype.code */

typedef struct sb_tensor {    /* frozen */
  void *data;
  sb_place place;
  int32_t ndim;
  sb_dtype dtype;
  int64_t *shape, *strides;   /* `ndim` of each; strides NULL: dense, row by row */
  uint64_t byte_offset;
} sb_tensor;

typedef struct sb_owned {     /* frozen. Given away: whoever holds it calls release once, [any], before its model is unloaded */
  sb_tensor tensor;
  void *owner;
  void (*release)(struct sb_owned *);
} sb_owned;

typedef struct sb_dim { const char *name; int64_t min, opt, max; } sb_dim;      /* frozen. "batch": 1, 8, 64; equal values: fixed */

/* ---- what the worker gives every plugin; outlives every handle ------------------------------------------------------ */

enum { SB_LOG_ERROR = 1, SB_LOG_WARN = 2, SB_LOG_INFO = 3, SB_LOG_DEBUG = 4 };

typedef struct sb_host {
  uint32_t size, flags;
  void *ctx;                                                                          /* passed back to every slot */
  const char *name, *version;
  void (*log)(void *ctx, int32_t level, const char *target, const char *message);     /* [any] */
  void (*phase)(void *ctx, const char *name, double fraction);                        /* [any] "compile": a long step is alive */
  uint64_t (*now_ns)(void *ctx);                                                       /* [any] the run's one monotonic clock */
  int32_t (*stopping)(void *ctx);                                                      /* [any] poll in long loops; not 0: return SB_CANCELLED. The
                                                                                          worker ends half a second later, whatever it does */
  const void *(*extension)(void *ctx, const char *id);                                 /* [any] NULL: none */
  void (*evidence)(void *ctx, const char *what, const char *found);                    /* [any] from `open`: what was looked at for devices, and what was
                                                                                          found: "libvendor.so.3", "/usr/lib/libvendor.so.3, version 3.1" */
} sb_host;

/* ---- hardware: instance -> model -> request --------------------------------------------------------------------------
 * instance  the opened runtime and its devices
 * model     compiled for devices, precision and dimensions; its weights are shared by its requests
 * request   one set of bound tensors; several requests of one model may run at once
 */
typedef struct sb_instance sb_instance;
typedef struct sb_model sb_model;
typedef struct sb_request sb_request;

enum { SB_INPUT = 0, SB_OUTPUT = 1 };                                             /* a direction */
enum { SB_CPU = 0, SB_GPU = 1, SB_NPU = 2, SB_DSP = 3, SB_BROWSER = 4, SB_OTHER = 5 }; /* sb_device.kind */
enum {
  SB_DEVICE_EMULATED = 1, /* sb_device.flags */
  SB_DEVICE_REMOTE = 2    /* since 1.1: behind a network, in whatever machine answers there: its figures are never ranked beside local ones */
};
enum { SB_BACKEND_SERIAL_LOAD = 1 };                                              /* sb_backend.flags: load and unload must not overlap */
enum {
  SB_LOAD_ALLOW_FALLBACK = 1, /* sb_load.flags */
  SB_LOAD_PROFILE = 2         /* the model records its operators, for SB_PROFILE: it may be slower, and is never measured */
};
enum { SB_OPERATOR_AS_SEEN_BY_HOST = 1 };                                         /* sb_operator.flags: the duration ends where the host's call for it
                                                                                     returned; a device behind it may have worked for longer */
enum { SB_SCOPE_PROCESS = 0, SB_SCOPE_DEVICE = 1, SB_SCOPE_PACKAGE = 2, SB_SCOPE_BOARD = 3 };

typedef struct sb_device {    /* filled by the callee */
  uint32_t size, kind;
  uint32_t why;               /* not 0: known of but not usable, and `reason` tells what was looked at */
  uint32_t flags;
  sb_place place;
  uint64_t memory_bytes;      /* SB_UNKNOWN where it cannot be told */
  char id[64], name[128], vendor[64], arch[64], driver[64], reason[256];
} sb_device;

typedef struct sb_source {
  uint32_t size, flags;
  const char *format;         /* "onnx" */
  const char *path;           /* a file, its external data beside it; or NULL and then: */
  const void *bytes;
  uint64_t length;
} sb_source;

typedef struct sb_load {
  uint32_t size, flags;
  const sb_source *source;
  const char *precision;      /* "float32", "float16", "bfloat16", "int8"; NULL: as the graph says. Not to be had: SB_UNIMPLEMENTED */
  const char *cache_dir;      /* for compiled code: an empty folder is a cold compile; NULL: no cache */
  const uint32_t *devices;    /* `device_count` indices, each once; none: the first usable one. Several: the model is split over them, or copied to each;
                                 sb_placement.device has their ids with '+' between. A backend that cannot: SB_UNIMPLEMENTED */
  const sb_dim *dims;         /* `dim_count` named dimensions of the graph */
  uint32_t device_count, dim_count;
  const sb_options *options;  /* of this load; may be NULL */
} sb_load;

typedef struct sb_port {      /* filled by the callee; its pointers live until unload */
  uint32_t size, ndim;
  const char *name;
  const int64_t *shape;       /* `ndim` of them; -1: dynamic */
  const char *const *dim_names; /* `ndim` of them, NULL where a dimension has no name; NULL: no names at all */
  sb_dtype dtype;
  uint32_t flags;
} sb_port;

typedef struct sb_placement { /* filled by the callee: what really happened at load, never what was asked for */
  uint32_t size, flags;
  uint64_t nodes_total, nodes_on_device;  /* SB_UNKNOWN where the engine cannot tell */
  uint64_t cache_hit;                     /* 1: compiled code came from cache_dir; 0: it did not; SB_UNKNOWN: keeps no cache */
  uint64_t read_ns, compile_ns, upload_ns;/* parts of load; SB_UNKNOWN where the engine does them in one */
  char precision[32], device[64], engine[128]; /* "float32", or "" where a remote device does not tell; an sb_device.id or several as "0+1", "ONNX Runtime 1.2.3 CPUExecutionProvider" */
} sb_placement;

typedef struct sb_timing {    /* filled by the callee, on now_ns' clock; SB_UNKNOWN where it cannot be told */
  uint32_t size, flags;
  uint64_t submit_ns, start_ns, end_ns; /* handed to the device's queue; the device works from start to end. All of it lies within the run */
  uint64_t clock_error_ns;    /* how far the device's clock may be from now_ns' */
  uint64_t host_to_device_ns, device_to_host_ns; /* copies of inputs and outputs, which are not between start and end */
} sb_timing;

typedef struct sb_memory { uint32_t size, scope; uint64_t used, peak, total; } sb_memory;               /* bytes */
typedef struct sb_energy { uint32_t size, scope; uint64_t microjoules, at_ns, period_ns; char source[32]; } sb_energy;
typedef struct sb_counter { uint32_t size, flags; double value; char name[64], unit[16]; } sb_counter;

typedef struct sb_operator {  /* filled by the callee: an operator that ran, or an average of its runs */
  uint32_t size, flags;
  uint64_t run;               /* which run after `begin`, from 0; SB_UNKNOWN: durations are means over the runs of the model */
  uint64_t start_ns;          /* since its run began; SB_UNKNOWN where the engine tells durations alone */
  uint64_t duration_ns;       /* 0: less than the engine's clock can tell. An If or a Loop is not told, what runs within it is */
  char name[256];             /* of the node */
  char type[64];              /* "MatMul", or what the engine made of several nodes */
  char kernel[96], device[64];/* "brgemm_avx512_f32", an sb_device.id; "" where the engine cannot tell */
} sb_operator;

/* Called on any thread, exactly once for each submit. May not call into its request. */
typedef void (*sb_done)(void *user, sb_status status, const sb_timing *timing, const sb_error *error);

typedef struct sb_backend {
  uint32_t size, flags;
  const char *id;             /* "cpu", "cuda", ... unique among backends */
  const char *options_schema; /* JSON Schema of the options `open` takes; the host checks options against it. NULL: none */

  sb_status (*open)(const sb_host *host, const sb_options *options, sb_instance **out, sb_error *error);    /* [main] */
  void (*close)(sb_instance *instance);                                                                     /* [main] no model is alive */
  uint32_t (*device_count)(sb_instance *instance);                                                          /* [any] */
  sb_status (*device)(sb_instance *instance, uint32_t index, sb_device *out, sb_error *error);              /* [any] */
  sb_status (*supports)(sb_instance *instance, const sb_load *load, sb_error *error);                       /* [any] optional: why not, without compiling */
  sb_status (*load)(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error);           /* [any], see SB_BACKEND_SERIAL_LOAD */
  void (*unload)(sb_model *model);                                                                          /* [any] no request is alive; joins its own threads */
  sb_status (*placement)(sb_model *model, sb_placement *out, sb_error *error);                              /* [any] */
  uint32_t (*port_count)(sb_model *model, int32_t direction);                                               /* [any] */
  sb_status (*port)(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error);     /* [any] */
  sb_status (*allocate)(sb_model *model, const sb_tensor *like, sb_owned **out, sb_error *error);           /* [any] optional: memory at like->place, pinned or on the device. like->data is NULL;
                                                                                                               out->tensor.data is the address by which the engine knows it */
  sb_status (*copy)(sb_instance *instance, const sb_tensor *from, const sb_tensor *to, sb_error *error);    /* [any] optional: between places, of one type and shape; returns when
                                                                                                               done: then `from` may be written over, and `to` read */
  sb_status (*request)(sb_model *model, sb_request **out, sb_error *error);                                 /* [any] */
  void (*release)(sb_request *request);                                                                     /* [lane] */

  /* [lane] Binds a tensor to a port. The struct is copied; the data is borrowed until the port is bound again or the request is
   * released. An engine may read an input's data at bind: whoever writes into a bound input binds it again.
   * Equal pointers never mean equal contents: between the runs of a round the host writes other contents where they lie and binds
   * them again, marks the outputs, and looks at what was written. Binding that takes more than three plain copies, and more than 5%
   * of a run, counts as run.
   * NULL for an output: the backend allocates it, at `place` (NULL: host memory). A tensor for an output: later runs write into
   * it; an engine that always allocates its outputs returns SB_UNIMPLEMENTED, and the port stays as it was.
   * SB_INVALID_ARGUMENT for a dtype or a rank that is not the port's. */
  sb_status (*bind)(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor, const sb_place *place, sb_error *error);

  /* [lane] optional. Keeps a state, such as a key-value cache, where the engine computes. From the next run on, what `output` holds after
   * a run is `input` in the one after it, in the shape it has then; it is not copied and does not leave the device.
   * The output has to be left to the backend (NULL-bound) and stays with it: sb_backend.output does not give it away.
   * A tensor bound to the input is read by one run, and the alias goes on with what that run gives: a new sequence begins so.
   * `reset`, and a run that fails, drop what is held: the input is unbound until a tensor is bound to it. Binding the output, to a tensor
   * or to NULL, ends the alias and drops what is held. An alias takes the place of those that its output or its input had.
   * SB_INVALID_ARGUMENT where dtype, rank or a fixed size of the ports differ, SB_NOT_FOUND for no such port, SB_FAILED_PRECONDITION
   * for an output that is bound to a tensor, SB_UNIMPLEMENTED for an engine that cannot. */
  sb_status (*alias)(sb_request *request, uint32_t output, uint32_t input, sb_error *error);
  sb_status (*reset)(sb_request *request, sb_error *error);                                                 /* [lane] optional: clear the state that a model keeps */
  sb_status (*run)(sb_request *request, sb_timing *timing, sb_error *error);                                /* [lane] returns when the outputs can be read. timing may be
                                                                                                               NULL. An unbound input: SB_FAILED_PRECONDITION */
  sb_status (*output)(sb_request *request, uint32_t index, sb_owned **out, sb_error *error);                /* [lane] takes a NULL-bound output of the last run; later runs
                                                                                                               never write it. Nothing there: SB_FAILED_PRECONDITION */
  sb_status (*submit)(sb_request *request, sb_done done, void *user, sb_error *error);                      /* [lane] optional: one in flight per request */
  sb_status (*cancel)(sb_request *request, sb_error *error);                                                /* [any] optional: done still fires */
  sb_status (*memory)(sb_instance *instance, uint32_t device, sb_memory *out, sb_error *error);             /* [any] optional */
  const void *(*extension)(sb_instance *instance, const char *id);                                          /* [any] optional; NULL: none */
} sb_backend;

typedef struct sb_power {
  uint32_t size, flags;
  sb_status (*read)(sb_instance *instance, uint32_t device, sb_energy *out, sb_error *error);               /* [any] a counter that only grows */
} sb_power;

typedef struct sb_counters {
  uint32_t size, flags;
  uint32_t (*count)(sb_instance *instance, uint32_t device);                                                /* [any] asked before each reading of them all:
                                                                                                               a backend may read its driver once, here */
  sb_status (*read)(sb_instance *instance, uint32_t device, uint32_t index, sb_counter *out, sb_error *error); /* [any] one of them */
} sb_counters;

/* What the operators of a model cost, as the engine itself has it; for models that were loaded with SB_LOAD_PROFILE. Between
 * `begin` and `end` one request of the model runs, once at a time. An engine may be able to record but once for each load. */
typedef struct sb_profile {
  uint32_t size, flags;
  sb_status (*begin)(sb_model *model, sb_error *error);                                                     /* [main] no run is under way */
  sb_status (*end)(sb_model *model, sb_error *error);                                                       /* [main] as for begin */
  uint32_t (*count)(sb_model *model);                                                                       /* [main] operators of the last recording, in order */
  sb_status (*read)(sb_model *model, uint32_t index, sb_operator *out, sb_error *error);                    /* [main] one of them */
} sb_profile;

/* ---- skillsets: which models there are, and their graphs ------------------------------------------------------------ */

typedef struct sb_skillset {
  uint32_t size, flags;
  const char *id, *summary;
  uint32_t (*count)(void);                                                                                  /* [any] */

  /* [any] One skill as JSON: id, aliases, family, architecture, category, task, parameters, axes {name: [min, max]}, content (a text
   * that changes whenever `build` would write something else: the host caches by it). NULL beyond the end. */
  const char *(*describe)(uint32_t index);

  /* [any] Writes skill.json and its files into `directory`, which is empty. skill.json holds the description and: parts [{name, graph}],
   * inputs [{part, name, dtype, dims, fill}], tolerance {precision: largest relative difference}; docs/skills.md has the rules. */
  sb_status (*build)(const sb_host *host, const char *skill, const sb_options *options, const char *directory, sb_error *error);
} sb_skillset;

/* ---- benchmarks: the host owns clock, schedule, loading, inputs and verification; the plugin owns the work ------------- */

typedef struct sb_part {
  uint32_t size, flags;
  const char *name;           /* "encoder", "decoder"; "" for a model of one part */
  const sb_source *source;
} sb_part;

typedef struct sb_target {    /* what to measure; NULL for a benchmark that needs neither hardware nor model */
  uint32_t size, part_count;
  const sb_part *const *parts;
  const sb_backend *backend;  /* as the host watches it: it runs the requests. What would go around the target is not there:
                                 load, unload, supports, extension. `submit` and `cancel` are there since 1.1, where the backend has them;
                                 what a submitted run wrote is looked at before its request is used again */
  sb_instance *instance;
  const sb_dim *axes;         /* the cell's point of the workload grid; min == opt == max */
  uint32_t axis_count, flags;
  uint64_t seed;
  const char *skill, *manifest; /* the skill's id, and its skill.json ("" for a user's own file) */
  void *ctx;                  /* passed back to the slots below */

  /* [any] Loads a part for these dimensions (none: the target's axes). The host times it, reads the placement and refuses a fallback. */
  sb_status (*load)(void *ctx, const char *part, const sb_dim *dims, uint32_t dim_count, sb_model **out, sb_error *error);
  void (*unload)(void *ctx, sb_model *model);                                                               /* [any] its requests are released */

  /* [lane] Binds every input, filled by the skill's rules from the run's seed and `variant`, and leaves the outputs to the backend.
   * The host keeps the memory until the request is released. In a round each run gets contents of its own, as long as the benchmark
   * binds no input itself: the host fills them around sb_backend.run, and takes what that costs out of the samples. */
  sb_status (*prepare)(void *ctx, sb_model *model, sb_request *request, uint64_t variant, sb_error *error);

  /* [lane] After a run on variant 0: takes the outputs, compares them with the reference (SB_WRONG_OUTPUT), and binds them back where
   * the engine can write into them, so that timed runs allocate nothing. A verified request stays verified until it is prepared again.
   * Some later runs, which nobody can foresee, are compared too, and one after the last round. */
  sb_status (*verify)(void *ctx, sb_model *model, sb_request *request, sb_error *error);
} sb_target;

enum { SB_DURATION = 0, SB_RATE = 1, SB_BYTES = 2, SB_JOULES = 3, SB_COUNT = 4, SB_RATIO = 5 };   /* sb_series.kind */
enum { SB_LOWER_IS_BETTER = 0, SB_HIGHER_IS_BETTER = 1, SB_NEITHER = 2 };                         /* sb_series.better */
enum { SB_SERIES_CONCURRENT = 1 };                                                                /* sb_series.flags: samples of a round may overlap in time */
enum { SB_WARM_UP = 0, SB_MEASURED = 1 };                                                         /* sb_round.kind */

typedef struct sb_series {
  uint32_t size, kind, better, flags;
  const char *name, *unit;    /* "latency", "ns". Durations are in nanoseconds. docs/plugins.md lists the names a host knows */
  double items_per_sample;    /* how many inferences, tokens, models ... one sample stands for */
} sb_series;

typedef struct sb_round {     /* filled by the host */
  uint32_t size, kind;
  uint64_t id;                /* goes back with the samples */
  uint64_t iterations;        /* run as many, report as many samples */
  uint64_t settle;            /* unreported iterations before them */
  uint64_t duration_ns;       /* about how long the host expects the round to take; SB_UNKNOWN at first */
} sb_round;

typedef struct sb_samples {
  uint32_t size, series;
  uint64_t round, count;
  const double *values;       /* `count` of them */
  const uint64_t *start_ns;   /* scheduled starts, in open loop; else NULL */
} sb_samples;

typedef struct sb_reporter {
  uint32_t size, flags;
  void *ctx;                  /* passed back to the slots below */
  sb_status (*series)(void *ctx, const sb_series *series, uint32_t *handle, sb_error *error);               /* [any] before its first round */

  /* [main] Asks for the next round of a series. 0: enough, go on to the next series or return. The turn to run is held from the start of
   * `run` and given up only in here, while another target has it. The host times the round from here to the samples.
   * Measured rounds are given out only after the target was verified. */
  int32_t (*next_round)(void *ctx, uint32_t series, sb_round *out);

  /* [main] Hands over what a round measured; copied. With round id 0: a single figure that needs no round, such as a first inference.
   * Sequential samples that add up to more than the round took are rejected: the cell fails. Those that add up to less than 95% of
   * it, or are shorter than the runs in them, make the cell implausible: do nothing in a round that is in no sample. */
  sb_status (*samples)(void *ctx, const sb_samples *samples, sb_error *error);
  void (*attach)(void *ctx, const char *name, const void *bytes, uint64_t length);                          /* [any] a file for the run's folder; copied */
} sb_reporter;

enum {
  SB_BENCHMARK_NEEDS_TARGET = 1, /* sb_benchmark.flags */
  SB_BENCHMARK_COLD_START = 2,   /* takes the option cold_start=true: load, first inference, return. The host calls it so in fresh
                                    processes, to repeat what can be cold only once in each */
  SB_BENCHMARK_SHARES_MODELS = 4 /* no figure of it tells of loading: `load` may give it a model that an earlier cell loaded */
};

typedef struct sb_benchmark {
  uint32_t size, flags;
  const char *id, *version;   /* a result of one version is never compared with one of another */
  const char *category;       /* "unit", "integration", "performance" */
  const char *summary;
  const char *options_schema; /* JSON Schema; NULL: none */
  sb_status (*run)(const sb_host *host, const sb_target *target, const sb_options *options, const sb_reporter *reporter, sb_error *error); /* [main] may start threads of its own; joins them */
  const char *skill;          /* the one skill it measures, where it brings its own; NULL: any */
} sb_benchmark;

typedef struct sb_benchmarks {
  uint32_t size, flags;
  uint32_t (*count)(void);                                                                                  /* [any] */
  const sb_benchmark *(*at)(uint32_t index);                                                                /* [any] NULL beyond the end */
} sb_benchmarks;

/* ---- the one exported symbol ------------------------------------------------------------------------------------------ */

typedef struct sb_plugin {
  uint32_t size, abi_major;   /* SB_ABI_MAJOR */
  const char *id, *name, *version, *vendor, *license, *url; /* id: lower case, digits and '-'; the rest may be NULL */
  sb_status (*init)(const sb_host *host, const char *plugin_path, sb_error *error);                         /* [main] optional; once; touches no device */
  const void *(*factory)(const char *id);                                                                   /* [any] SB_BACKEND, SB_BENCHMARKS, SB_SKILLSET; NULL: none */
  uint32_t abi_minor, flags;  /* since 1.1: SB_ABI_MINOR, which says what header it was built with. It changes nothing else */
} sb_plugin;

/* Define it as `const sb_plugin skillbench_plugin = {...};`. It is declared here because in C++ a const would stay inside its file. */
extern SB_EXPORT const sb_plugin skillbench_plugin;

#ifdef __cplusplus
}
#endif
#endif
