/* The seam between starting (`prefork.c`) and serving (`loop.c` of an entry). */
#ifndef LOOP_H
#define LOOP_H

#include "options.h"

/* The bits of the scenarios that the entry knows. */
extern const unsigned known_scenarios;

/* Called once, before there are workers: makes what all of them share. */
void prepare_shared(enum scenario wanted);

/*
 * Serves the connections of a listener until the process ends. Calls `ready` once, when everything
 * that serving needs is there; says on standard error what is missing and exits if it is not.
 */
_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void));

#endif
