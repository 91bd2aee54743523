/* The seam between accepting (`main.c`) and the scenarios with work (`tasks.c`). */
#ifndef CONNECTION_H
#define CONNECTION_H

#include "../shared/options.h"

#include <pthread.h>

enum { READ_BYTES = 16 * 1024, STACK_BYTES = 64 * 1024 };

/* The bits of the scenarios that `tasks.c` serves. */
enum { WITH_WORK = SCENARIO_MUTEX | SCENARIO_CHANNEL | SCENARIO_SKEWED | SCENARIO_HANDOFF };

enum outcome { DONE, BROKEN };

enum outcome send_replies(int fd, size_t replies);

/* Starts what a scenario has only one of; called once, before there are connections. */
void prepare_tasks(enum scenario scenario);

/* Serves a connection until its end, but does not close it. */
void serve_with_work(int fd, enum scenario scenario);

/* Starts a thread with a small stack. Returns an error number, or 0. */
int start_thread(pthread_t *thread, int detach_state, void *(*function)(void *), void *argument);

#endif
