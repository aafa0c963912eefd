/* Benchmarks without a target, straight on the contract: what plugins in C do, and what goes wrong with them. */
#include "skillbench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PLUGIN_ID
#define PLUGIN_ID "in-c"
#endif

static sb_status failed(sb_error *error, const char *text) {
  error->code = SB_INTERNAL;
  snprintf(error->message, sizeof error->message, "%s", text);
  return SB_INTERNAL;
}

/* Does `work` as often as the host asks, and reports `scale` times what it took. */
static sb_status measure(const sb_host *host, const sb_reporter *reporter, sb_error *error, const char *name,
                         double scale, void (*work)(void)) {
  sb_series series = {0};
  uint32_t handle = 0;
  sb_round round = {0};
  sb_status status;
  series.size = sizeof series;
  series.kind = SB_DURATION;
  series.name = name;
  series.unit = "ns";
  series.items_per_sample = 10;
  status = reporter->series(reporter->ctx, &series, &handle, error);
  if (status != SB_OK) return status;
  round.size = sizeof round;
  while (reporter->next_round(reporter->ctx, handle, &round)) {
    sb_samples samples = {0};
    double *values = malloc(round.iterations * sizeof *values);
    uint64_t i;
    if (values == NULL) return failed(error, "no memory for the samples");
    for (i = 0; i < round.iterations; i++) {
      uint64_t start = host->now_ns(host->ctx);
      work();
      values[i] = scale * (double)(host->now_ns(host->ctx) - start);
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

#ifndef PAUSE_US
#define PAUSE_US 1000
#endif

static void pause_briefly(void) { usleep(PAUSE_US); }

static void take_memory(void) {
  size_t size = (size_t)48 << 20, at;
  volatile char *bytes = malloc(size);
  if (bytes == NULL) return;
  for (at = 0; at < size; at += 4096) bytes[at] = 1;
  free((void *)bytes);
}

#define ARGUMENTS \
  const sb_host *host, const sb_target *target, const sb_options *options, const sb_reporter *reporter, sb_error *error
#define UNUSED (void)host, (void)target, (void)options, (void)reporter, (void)error

static sb_status steps(ARGUMENTS) {
  UNUSED;
  return measure(host, reporter, error, "execution_time", 1, pause_briefly);
}

static sb_status memory(ARGUMENTS) {
  UNUSED;
  return measure(host, reporter, error, "own_name", 1, take_memory);
}

static sb_status failing(ARGUMENTS) {
  UNUSED;
  return failed(error, "the disk is on fire");
}

static sb_status crashing(ARGUMENTS) {
  UNUSED;
  abort();
}

static sb_status hanging(ARGUMENTS) {
  UNUSED;
  while (host != NULL) sleep(1);
  return SB_OK;
}

static sb_status inventing(ARGUMENTS) {
  UNUSED;
  return measure(host, reporter, error, "execution_time", 1000, pause_briefly);
}

static sb_status silent(ARGUMENTS) {
  UNUSED;
  return SB_OK;
}

static sb_status optional(ARGUMENTS) {
  uint32_t i;
  UNUSED;
  for (i = 0; i < options->count; i++)
    if (strcmp(options->items[i].key, "steps") == 0 && strcmp(options->items[i].value, "3") == 0) {
      reporter->attach(reporter->ctx, "steps.txt", "three", 5);
      return measure(host, reporter, error, "execution_time", 1, pause_briefly);
    }
  return failed(error, "the option did not arrive");
}

#define BENCHMARK(id, category, flags, schema, run, skill) \
  { sizeof(sb_benchmark), flags, id, "1", category, "", schema, run, skill }

/* With OTHER, only the first three are there. */
static const sb_benchmark all[] = {
#ifdef OTHER
  BENCHMARK("run_steps", "unit", 0, NULL, steps, NULL),
  BENCHMARK("run_labelled", NULL, 0, NULL, steps, NULL),
  BENCHMARK("run_own", "integration", 0, NULL, steps, "gpt2"),
#endif
  BENCHMARK("run_steps", "unit", 0, NULL, steps, NULL),
  BENCHMARK("run_memory", "performance", 0, NULL, memory, NULL),
  BENCHMARK("run_failing", "unit", 0, NULL, failing, "bert-tiny"),
  BENCHMARK("run_crashing", "unit", 0, NULL, crashing, NULL),
  BENCHMARK("run_hanging", "integration", 0, NULL, hanging, NULL),
  BENCHMARK("run_inventing", "integration", 0, NULL, inventing, NULL),
  BENCHMARK("run_silent", "integration", 0, NULL, silent, NULL),
  BENCHMARK("run_optional", NULL, 0,
            "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"steps\":{\"type\":\"integer\"}}}",
            optional, NULL),
  BENCHMARK("run_odd", "speed", 0, NULL, steps, NULL),
  BENCHMARK("run_steps", "unit", 0, NULL, steps, NULL),
  BENCHMARK("on_a_model", "performance", SB_BENCHMARK_NEEDS_TARGET, NULL, failing, NULL),
};

#ifdef OTHER
static uint32_t count(void) { return 3; }
#else
static uint32_t count(void) { return sizeof all / sizeof *all; }
#endif
static const sb_benchmark *at(uint32_t index) { return index < count() ? &all[index] : NULL; }
static const sb_benchmarks benchmarks = {sizeof(sb_benchmarks), 0, count, at};

#ifdef OTHER
static uint32_t skill_count(void) { return 2; }
static const char *describe(uint32_t index) {
  static const char *const skills[] = {
    "{\"id\":\"small-one\",\"family\":\"vision\",\"axes\":{\"batch\":[1,2]}}",
    "{\"id\":7}",
  };
  return index < 2 ? skills[index] : NULL;
}
static sb_status build(const sb_host *host, const char *skill, const sb_options *options, const char *directory,
                       sb_error *error) {
  (void)host, (void)skill, (void)options, (void)directory;
  return failed(error, "nothing is built here");
}
static const sb_skillset skillset = {sizeof(sb_skillset), 0, "other", "", skill_count, describe, build};
#endif

static const void *factory(const char *id) {
#ifdef OTHER
  if (strcmp(id, SB_SKILLSET) == 0) return &skillset;
#endif
  return strcmp(id, SB_BENCHMARKS) == 0 ? &benchmarks : NULL;
}

SB_EXPORT const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, PLUGIN_ID, "In C", "1.2", NULL, NULL, NULL, NULL, factory, SB_ABI_MINOR, 0,
};
