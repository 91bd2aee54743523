/* The seam between starting (`prefork.c`) and serving (`loop.c` of an entry). */
#ifndef LOOP_H
#define LOOP_H

#include "options.h"

/*
 * Serves the connections of a listener until the process ends. Calls `ready` once, when everything
 * that serving needs is there; says on standard error what is missing and exits if it is not.
 */
_Noreturn void serve(int listener, enum scenario wanted, void (*ready)(void));

#endif
