/* The seam between starting (`main.c`) and serving (`connection.c`). */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "../shared/options.h"

#include <fev/fev.h>

/* To be called once, before any connection. */
void prepare(enum scenario wanted, long timeout_ms);

/* What the fiber of a connection runs; its argument is the socket, which it closes. */
void *serve_connection(void *socket);

#endif
