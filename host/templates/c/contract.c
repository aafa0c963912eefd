#include "contract.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts a text of `length` bytes before a UTF-8 character that lost its end. */
static void cut_at_character(char *text, size_t length)
{
  size_t start = length;
  while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
    start--;
  if (start > 0) {
    unsigned char lead = (unsigned char)text[start - 1];
    size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (start - 1 + bytes > length)
      text[start - 1] = '\0';
  }
}

sb_status fail(sb_error *error, sb_status code, uint32_t why, const char *format, ...)
{
  if (error != NULL) {
    sb_error made;
    va_list arguments;
    memset(&made, 0, sizeof made);
    made.size = sizeof made;
    made.why = why;
    made.code = code;
    va_start(arguments, format);
    if (vsnprintf(made.message, sizeof made.message, format, arguments) >= (int)sizeof made.message)
      cut_at_character(made.message, sizeof made.message - 1);
    va_end(arguments);
    fill(error, &made, sizeof made);
  }
  return code;
}

void fill(void *to, const void *from, uint32_t known)
{
  uint32_t *size = (uint32_t *)to; /* every struct that grows starts with it */
  uint32_t filled;
  if (to == NULL)
    return;
  filled = *size < known ? *size : known;
  if (filled >= sizeof *size) {
    memcpy(to, from, filled);
    *size = filled;
  }
}

uint64_t host_now(const sb_host *host)
{
  return host != NULL && SB_CALL(sb_host, host, now_ns) ? host->now_ns(host->ctx) : SB_UNKNOWN;
}

int host_stopping(const sb_host *host)
{
  return host != NULL && SB_CALL(sb_host, host, stopping) && host->stopping(host->ctx) != 0;
}

uint64_t elapsed(uint64_t start, uint64_t end)
{
  return start == SB_UNKNOWN || end == SB_UNKNOWN || end < start ? SB_UNKNOWN : end - start;
}
