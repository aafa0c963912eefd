/* For tests of lanes, straight on the contract: a backend that computes nothing, or benchmarks that only pass time on it. */
#include "skillbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PLUGIN_ID
#define PLUGIN_ID "benchmarks"
#endif

struct sb_instance {
  int crashes;
};

static sb_status refused(sb_error *error) {
  error->code = SB_UNIMPLEMENTED;
  snprintf(error->message, sizeof error->message, "this backend runs nothing");
  return SB_UNIMPLEMENTED;
}

static sb_status open_instance(const sb_host *host, const sb_options *options, sb_instance **out, sb_error *error) {
  uint32_t i;
  (void)host;
  if ((*out = calloc(1, sizeof **out)) == NULL) return refused(error);
  for (i = 0; i < options->count; i++)
    if (strcmp(options->items[i].key, "crashes") == 0) (*out)->crashes = 1;
  return SB_OK;
}
static void close_instance(sb_instance *instance) { free(instance); }
static uint32_t device_count(sb_instance *instance) { return instance != NULL; }
static sb_status device(sb_instance *instance, uint32_t index, sb_device *out, sb_error *error) {
  uint32_t size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
  sb_device made;
  (void)instance;
  if (index != 0) return refused(error);
  memset(&made, 0, sizeof made);
  made.size = size;
  made.kind = SB_CPU;
  made.memory_bytes = SB_UNKNOWN;
  strcpy(made.id, "cpu");
  memcpy(out, &made, size);
  return SB_OK;
}
static sb_status load(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error) {
  (void)instance, (void)load, (void)out;
  return refused(error);
}
static void unload(sb_model *model) { (void)model; }
static sb_status placement(sb_model *model, sb_placement *out, sb_error *error) {
  (void)model, (void)out;
  return refused(error);
}
static uint32_t port_count(sb_model *model, int32_t direction) { return (void)model, (void)direction, 0; }
static sb_status port(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error) {
  (void)model, (void)direction, (void)index, (void)out;
  return refused(error);
}
static sb_status request(sb_model *model, sb_request **out, sb_error *error) {
  (void)model, (void)out;
  return refused(error);
}
static void release(sb_request *request) { (void)request; }
static sb_status bind(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor,
                      const sb_place *place, sb_error *error) {
  (void)request, (void)direction, (void)index, (void)tensor, (void)place;
  return refused(error);
}
static sb_status run(sb_request *request, sb_timing *timing, sb_error *error) {
  (void)request, (void)timing;
  return refused(error);
}
static sb_status output(sb_request *request, uint32_t index, sb_owned **out, sb_error *error) {
  (void)request, (void)index, (void)out;
  return refused(error);
}

#define OPTIONS \
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"threads\":{\"type\":\"integer\"}," \
  "\"crashes\":{\"type\":\"boolean\"}}}"

static const sb_backend backend = {
  sizeof(sb_backend), 0, PLUGIN_ID, OPTIONS, open_instance, close_instance, device_count, device, NULL, load, unload,
  placement, port_count, port, NULL, NULL, request, release, bind, NULL, NULL, run, output, NULL, NULL, NULL, NULL,
};

/* Passes the time that the host gives it. */
static sb_status pass_time(const sb_host *host, const sb_target *target, const sb_options *options,
                           const sb_reporter *reporter, sb_error *error) {
  sb_series series = {0};
  uint32_t handle = 0;
  sb_round round = {0};
  sb_status status;
  (void)options;
  if (target->instance->crashes) abort();
  series.size = sizeof series;
  series.kind = SB_DURATION;
  series.name = "latency";
  series.unit = "ns";
  series.items_per_sample = 1;
  status = reporter->series(reporter->ctx, &series, &handle, error);
  if (status != SB_OK) return status;
  round.size = sizeof round;
  while (reporter->next_round(reporter->ctx, handle, &round)) {
    sb_samples samples = {0};
    double *values = malloc(round.iterations * sizeof *values);
    uint64_t i;
    if (values == NULL) return refused(error);
    for (i = 0; i < round.iterations; i++) {
      uint64_t start = host->now_ns(host->ctx);
      usleep(20000);
      values[i] = (double)(host->now_ns(host->ctx) - start);
    }
    samples.size = sizeof samples;
    samples.series = handle;
    samples.round = round.id;
    samples.count = round.iterations;
    samples.values = values;
    status = reporter->samples(reporter->ctx, &samples, error);
    free(values);
    if (status != SB_OK) return status;
  }
  return SB_OK;
}

#define WORKERS \
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"workers\":{\"type\":\"integer\"}}}"
static const sb_benchmark all[] = {
  {sizeof(sb_benchmark), SB_BENCHMARK_NEEDS_TARGET, "pause", "1", "performance", "", NULL, pass_time, NULL},
  {sizeof(sb_benchmark), SB_BENCHMARK_NEEDS_TARGET, "crowd", "1", "performance", "", WORKERS, pass_time, NULL},
};
static uint32_t count(void) { return sizeof all / sizeof *all; }
static const sb_benchmark *at(uint32_t index) { return index < count() ? &all[index] : NULL; }
static const sb_benchmarks benchmarks = {sizeof(sb_benchmarks), 0, count, at};

static const void *factory(const char *id) {
#ifdef BACKEND
  (void)benchmarks;
  return strcmp(id, SB_BACKEND) == 0 ? &backend : NULL;
#else
  (void)backend;
  return strcmp(id, SB_BENCHMARKS) == 0 ? &benchmarks : NULL;
#endif
}

SB_EXPORT const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, PLUGIN_ID, "In C", "1.2", NULL, NULL, NULL, NULL, factory, SB_ABI_MINOR, 0,
};
