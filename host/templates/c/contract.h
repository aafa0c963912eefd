/* The rules of skillbench.h that every slot follows, written once. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include "skillbench.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CHECK_FORMAT __attribute__((format(printf, 4, 5)))
#else
#define CHECK_FORMAT
#endif

/* Fills the caller's error, which may be NULL, and returns `code`, so that a slot can end with `return fail(...)`.
 * Say what happened, where, and what to do next: the message is all that the user sees. */
sb_status fail(sb_error *error, sb_status code, uint32_t why, const char *format, ...) CHECK_FORMAT;

/* Fills a struct of the caller: writes only below the caller's `size`, and lowers that `size` to what was filled.
 * The caller may have been compiled against a shorter or a longer copy of the header. */
void fill(void *to, const void *from, uint32_t known);

/* The run's clock; SB_UNKNOWN where the host has none. */
uint64_t host_now(const sb_host *host);

/* Not 0: the run is being stopped. Long loops ask, and return SB_CANCELLED. */
int host_stopping(const sb_host *host);

/* What took from `start` to `end`; SB_UNKNOWN where either is. */
uint64_t elapsed(uint64_t start, uint64_t end);

#ifdef __cplusplus
}
#endif
#endif
