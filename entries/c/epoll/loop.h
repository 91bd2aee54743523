/* The seam between starting (`main.c`) and serving (`loop.c`). */
#ifndef LOOP_H
#define LOOP_H

enum scenario { HELLO, ECHO };

/* Serves the connections of a non-blocking listener until the process ends. */
_Noreturn void serve(int listener, enum scenario wanted);

#endif
