/* The engine: what this plugin is about, and what a vendor replaces.
 *
 * The rest of the plugin calls these functions and nothing else of the engine. Keep their meaning and put your own runtime
 * behind them: `engine_plan` asks it whether it can run the graph, `engine_compile` compiles, `engine_run` computes.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "onnx.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ENGINE_MAX_RANK = 2 };

typedef struct engine_view {  /* a dense float32 tensor somewhere */
  const float *data;
  uint32_t rank;
  int64_t dims[ENGINE_MAX_RANK]; /* -1: dynamic, where it stands for a port */
} engine_view;

typedef struct engine_port {
  char *name;
  char *dim_names[ENGINE_MAX_RANK]; /* NULL where a dimension has no name */
  engine_view view;           /* its rank and dimensions */
} engine_port;

typedef struct engine engine; /* a compiled model; read by several threads at once */
typedef struct engine_lane engine_lane; /* the working memory of one run at a time */

/* Finds out whether the engine can run the graph, without touching its weights: SB_UNIMPLEMENTED names what it cannot do. */
sb_status engine_plan(const onnx_model *graph, engine **out, sb_error *error);

/* Makes a planned model ready to run: here, reads its weights. */
sb_status engine_compile(engine *engine, const onnx_model *graph, sb_error *error);
void engine_free(engine *engine);

uint32_t engine_port_count(const engine *engine, int32_t direction);
const engine_port *engine_get_port(const engine *engine, int32_t direction, uint32_t index); /* NULL beyond the end */
uint64_t engine_node_count(const engine *engine);

sb_status engine_open_lane(const engine *engine, engine_lane **out, sb_error *error);
void engine_close_lane(engine_lane *lane);

/* Computes `outputs` from `inputs`, as many as there are ports. What the outputs point to lives until the lane's next run. */
sb_status engine_run(engine_lane *lane, const engine_view *inputs, engine_view *outputs, const sb_host *host, sb_error *error);

#ifdef __cplusplus
}
#endif
#endif
