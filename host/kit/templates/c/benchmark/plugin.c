/* @NAME@: a skillbench benchmark in one file of C99. It measures how long one run of a model takes, and how long a burst of runs takes,
 * one after the other, as a service does that works off a queue.
 *
 * The host owns what has to be the same for all benchmarks: it loads the model and times that, fills the inputs, compares the outputs
 * with another engine, says how many samples it wants and when there are enough, and makes figures of them. What is left is the work,
 * and here it is. The contract is skillbench.h; what begins with sbh_ is in skillbench_helpers.h.
 *
 * Errors of the host and of the backend fill the caller's struct already: they are handed on by returning their status. */
#include "skillbench_helpers.h"

/* An option's number. The host has checked the text against the schema below, and gives no option that the schema does not have. */
static unsigned long number(const sb_options *options, const char *key, unsigned long otherwise)
{
  uint32_t i;
  for (i = 0; options != NULL && i < options->count; i++)
    if (strcmp(options->items[i].key, key) == 0)
      return strtoul(options->items[i].value, NULL, 10);
  return otherwise;
}

/* How many items one run works on. */
static double batch_of(const sb_target *target)
{
  uint32_t i;
  for (i = 0; i < target->axis_count; i++)
    if (strcmp(target->axes[i].name, "batch") == 0)
      return (double)target->axes[i].opt;
  return 1;
}

/* What is measured: `runs` runs of a request are one sample. */
typedef struct work {
  const sb_host *host;
  const sb_backend *backend;
  sb_request *request;
  unsigned long runs;
} work;

static sb_status once(const work *work, sb_error *error)
{
  unsigned long i;
  sb_status status = SB_OK;
  for (i = 0; i < work->runs && status == SB_OK; i++)
    status = work->backend->run(work->request, NULL, error);
  return status;
}

/* One round: so many samples, after some iterations that let caches and clocks settle. All that a round does stands in its samples,
 * since the host times the round as a whole and holds the samples against that. */
static sb_status measure_round(const work *work, const sb_reporter *reporter, uint32_t series, const sb_round *round, sb_error *error)
{
  double *values = (double *)malloc((size_t)round->iterations * sizeof *values + 1);
  sb_samples samples = {sizeof samples, series, round->id, round->iterations, values, NULL};
  sb_status status = values != NULL ? SB_OK
    : sbh_fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for the samples of a round");
  uint64_t i;
  for (i = 0; i < round->settle && status == SB_OK; i++)
    status = once(work, error);
  for (i = 0; i < round->iterations && status == SB_OK; i++) {
    uint64_t start = work->host->now_ns(work->host->ctx);
    status = once(work, error);
    values[i] = (double)(work->host->now_ns(work->host->ctx) - start);
  }
  if (status == SB_OK)
    status = reporter->samples(reporter->ctx, &samples, error);
  free(values);
  return status;
}

/* Rounds of a series until the host has enough. It warms up first, and stops when the interval is tight or the time is over. */
static sb_status measure(const work *work, const sb_reporter *reporter, const char *name, double items, sb_error *error)
{
  sb_series series = {sizeof series, SB_DURATION, SB_LOWER_IS_BETTER, 0, name, "ns", items};
  uint32_t handle = 0;
  sb_status status = reporter->series(reporter->ctx, &series, &handle, error);
  while (status == SB_OK) {
    sb_round round;
    memset(&round, 0, sizeof round);
    round.size = sizeof round;
    if (!reporter->next_round(reporter->ctx, handle, &round))
      break;
    status = measure_round(work, reporter, handle, &round, error);
  }
  return status;
}

/* A model's request, ready to be timed: inputs bound, run once, and its outputs held against another engine. Without that last step the
 * host gives out no measured round: there is no figure of a model that computes the wrong thing. */
static sb_status prepare(const sb_target *target, sb_model *model, sb_request *request, sb_error *error)
{
  sb_status status = target->prepare(target->ctx, model, request, 0, error);
  if (status == SB_OK)
    status = target->backend->run(request, NULL, error);
  return status == SB_OK ? target->verify(target->ctx, model, request, error) : status;
}

/* [main] Called once for each cell. Target, options and reporter are lent until it returns. Whatever it returns other than SB_OK is the
 * cell's outcome, and no sample of it counts. */
static sb_status run(const sb_host *host, const sb_target *target, const sb_options *options, const sb_reporter *reporter, sb_error *error)
{
  work work = {host, NULL, NULL, 1};
  sb_model *model = NULL;
  sb_status status;
  if (target == NULL)
    return sbh_fail(error, SB_INVALID_ARGUMENT, 0, "this benchmark needs a target: a backend and a model");
  if (target->part_count != 1)
    return sbh_fail(error, SB_UNIMPLEMENTED, 0, "this benchmark measures models of one part: take `inference` for others");
  work.backend = target->backend;
  status = target->load(target->ctx, target->parts[0]->name, NULL, 0, &model, error);
  if (status != SB_OK)
    return status;
  status = work.backend->request(model, &work.request, error);
  if (status == SB_OK)
    status = prepare(target, model, work.request, error);
  /* `latency` is a name that the host knows, so that it fills the usual columns. Any other name stands among the series. */
  if (status == SB_OK)
    status = measure(&work, reporter, "latency", batch_of(target), error);
  work.runs = number(options, "runs", 10);
  if (status == SB_OK)
    status = measure(&work, reporter, "burst", batch_of(target) * (double)work.runs, error);
  if (work.request != NULL)
    work.backend->release(work.request);
  target->unload(target->ctx, model);
  return status;
}

/* By position, so that the compiler holds each field against its type. A result of one version is never compared with one of another:
 * change the version whenever the work changes. */
static const sb_benchmark benchmark = {
  sizeof(sb_benchmark),
  SB_BENCHMARK_NEEDS_TARGET | SB_BENCHMARK_SHARES_MODELS, /* no figure tells of loading, so a model may be there already */
  "@NAME@", "1", "performance", "Time of a run, and of a burst of runs",
  "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"runs\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,"
  "\"default\":10,\"description\":\"How many runs a burst has\"}}}",
  run,
  NULL}; /* skill: it measures any */

/* [any] */
static uint32_t count(void) { return 1; }
static const sb_benchmark *at(uint32_t index) { return index == 0 ? &benchmark : NULL; }

static const sb_benchmarks benchmarks = {sizeof(sb_benchmarks), 0, count, at};

/* [any] */
static const void *factory(const char *id) { return strcmp(id, SB_BENCHMARKS) == 0 ? &benchmarks : NULL; }

/* The one symbol that the host looks up. */
const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin), SB_ABI_MAJOR, "@NAME@", "@NAME@", "0.1.0", NULL, NULL, NULL, /* id, name, version, vendor, license, url */
  NULL, factory, SB_ABI_MINOR, 0};                                                /* init, factory, the minor of this header, flags */
