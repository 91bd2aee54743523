/* The seam between starting (`main.c`) and serving (`connection.c`). */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "../shared/options.h"

#include <uv.h>

/* To be called once, before any connection. */
void prepare(enum scenario wanted, uint64_t timeout_in_ms);

/* The callback of `uv_listen`. */
void on_connection(uv_stream_t *listener, int status);

#endif
