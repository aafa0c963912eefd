/* What the handles of the contract point to in this plugin. */
#ifndef PLUGIN_H
#define PLUGIN_H

#include "engine.h"
#include "skillbench.h"

#define ENGINE_NAME "@NAME@ 0.1.0"
#define DEVICE_ID "cpu0"

struct sb_instance {
  const sb_host *host;        /* outlives every handle */
};

struct sb_model {
  const sb_host *host;
  engine *engine;             /* does not change after load, so that requests may share it */
  uint64_t read_ns, compile_ns;
};

/* model.c */
sb_status model_supports(sb_instance *instance, const sb_load *load, sb_error *error);
sb_status model_load(sb_instance *instance, const sb_load *load, sb_model **out, sb_error *error);
void model_unload(sb_model *model);
sb_status model_placement(sb_model *model, sb_placement *out, sb_error *error);
uint32_t model_port_count(sb_model *model, int32_t direction);
sb_status model_port(sb_model *model, int32_t direction, uint32_t index, sb_port *out, sb_error *error);

/* request.c */
sb_status request_new(sb_model *model, sb_request **out, sb_error *error);
void request_release(sb_request *request);
sb_status request_bind(sb_request *request, int32_t direction, uint32_t index, const sb_tensor *tensor, const sb_place *place,
                       sb_error *error);
sb_status request_run(sb_request *request, sb_timing *timing, sb_error *error);
sb_status request_output(sb_request *request, uint32_t index, sb_owned **out, sb_error *error);

#endif
