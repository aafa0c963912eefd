/* @NAME@: a skillbench backend. This file holds the one exported symbol, the table behind it, and the instance: the opened
 * runtime and its devices. */
#include "plugin.h"

#include "contract.h"

#include <stdlib.h>
#include <string.h>

/* A real plugin loads its vendor's runtime here, with dlopen, and says SB_UNAVAILABLE where there is none: what was looked
 * for, where, and how to install it. The options were checked against OPTIONS_SCHEMA before. */
static sb_status open_instance(const sb_host *host, const sb_options *options, sb_instance **out, sb_error *error)
{
  sb_instance *instance = (sb_instance *)calloc(1, sizeof *instance);
  (void)options;
  if (instance == NULL)
    return fail(error, SB_RESOURCE_EXHAUSTED, SB_WHY_MEMORY, "there is no memory for an instance");
  instance->host = host;
  *out = instance;
  return SB_OK;
}

static void close_instance(sb_instance *instance)
{
  free(instance);
}

static uint32_t device_count(sb_instance *instance)
{
  return instance != NULL ? 1 : 0;
}

/* A device that is known of but cannot be used is told too: with `why`, and what was looked at in `reason`. */
static sb_status describe_device(sb_instance *instance, uint32_t index, sb_device *out, sb_error *error)
{
  sb_device device;
  if (index >= device_count(instance))
    return fail(error, SB_NOT_FOUND, SB_WHY_DEVICE, "there is no device %u", (unsigned)index);
  memset(&device, 0, sizeof device);
  device.size = sizeof device;
  device.kind = SB_CPU;
  device.place.type = SB_HOST_MEMORY;
  device.memory_bytes = SB_UNKNOWN;
  strcpy(device.id, DEVICE_ID);
  strcpy(device.name, "The CPU, in plain C");
  fill(out, &device, sizeof device);
  return SB_OK;
}

#define OPTIONS_SCHEMA "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}"

/* By position, so that the compiler holds each slot against its type. A slot that is NULL is one this backend does not have;
 * those that may be are marked "optional" in skillbench.h. */
static const sb_backend @IDENT@_backend = {
  sizeof(sb_backend),
  0,                          /* flags */
  "@NAME@",
  OPTIONS_SCHEMA,
  open_instance,
  close_instance,
  device_count,
  describe_device,
  model_supports,
  model_load,
  model_unload,
  model_placement,
  model_port_count,
  model_port,
  NULL,                       /* allocate: only memory of the host is bound */
  NULL,                       /* copy */
  request_new,
  request_release,
  request_bind,
  NULL,                       /* alias */
  NULL,                       /* reset: models keep no state between runs */
  request_run,
  request_output,
  NULL,                       /* submit */
  NULL,                       /* cancel */
  NULL,                       /* memory */
  NULL,                       /* extension */
};

static const void *factory(const char *id)
{
  return id != NULL && strcmp(id, SB_BACKEND) == 0 ? &@IDENT@_backend : NULL;
}

const sb_plugin skillbench_plugin = {
  sizeof(sb_plugin),
  SB_ABI_MAJOR,
  "@NAME@",
  "@NAME@",                   /* the name that people read */
  "0.1.0",
  NULL,                       /* vendor */
  NULL,                       /* license */
  NULL,                       /* url */
  NULL,                       /* init */
  factory,
};
