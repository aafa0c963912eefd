/* A driver without hardware: as much of libcuda as copies go through. Its GPU's memory is the host's, and a copy is done when its queue is
 * waited for, not before. It is for tests alone, and nothing is measured with it. */
#include <stdint.h>
#include <string.h>

typedef struct { void *to; const void *from; size_t bytes; } copy;
static copy queued[64];
static int count, held, waited;
static _Thread_local int current;

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal == 0 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; held++; *context = &held; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; held--; return 0; }
int cuCtxSetCurrent(void *context) { current = context == &held; return 0; }

int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes, void *stream) {
  if (!current || stream != (void *)2) return 201;
  if (from == 13) return 700;
  copy made = {(void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes};
  queued[count++] = made;
  return 0;
}

int cuStreamSynchronize(void *stream) {
  if (stream != (void *)2) return 201;
  for (; count > 0; count--) memcpy(queued[count - 1].to, queued[count - 1].from, queued[count - 1].bytes);
  waited++;
  return 0;
}

int cuGetErrorString(int error, const char **text) {
  *text = error == 700 ? "an illegal memory access was encountered" : error == 101 ? "invalid device ordinal" : "another one";
  return 0;
}

int contexts_held(void) { return held; }
int copies_queued(void) { return count; }
