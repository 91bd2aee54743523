/*
 * The seam between starting (`main.c`), serving (`connection.c`) and the scenarios with work
 * (`tasks.c`).
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "../shared/options.h"

#include <fev/fev.h>

/* A buffer is on the fiber's stack, of which libfev gives it 64 KiB. */
enum { READ_BYTES = 16 * 1024 };

/* The bits of the scenarios that `tasks.c` serves. */
enum { WITH_WORK = SCENARIO_MUTEX | SCENARIO_CHANNEL | SCENARIO_SKEWED | SCENARIO_HANDOFF };

enum outcome { DONE, BROKEN };

/* To be called once, before any connection. */
void prepare(enum scenario wanted, long timeout_ms);

/*
 * Makes what a scenario has only one of, before the scheduler runs. Returns 0 or a negative number
 * of errno.
 */
int prepare_tasks(struct fev_sched *scheduler, enum scenario scenario);

/* What the fiber of a connection runs; its argument is the socket, which it closes. */
void *serve_connection(void *socket);

/* Serves a connection until its end, but does not close it. */
void serve_with_work(struct fev_socket *socket, enum scenario scenario);

/*
 * Reads up to READ_BYTES. The result is 0 at the end of the stream and negative if the connection is
 * broken.
 */
ssize_t read_some(struct fev_socket *socket, char *buffer);

enum outcome write_replies(struct fev_socket *socket, size_t replies);

#endif
