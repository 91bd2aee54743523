/*
 * Compiles where a libfev with io_uring would be sound, and is never run.
 *
 * libfev 0.1.0 clears a request by writing `__pad2[0]` to `__pad2[2]`. The kernel's headers have
 * since put fields into that padding, and where it is shorter the library writes past the request:
 * without a warning, into the next request or past the end of the queue.
 */
#include <linux/io_uring.h>
#include <stddef.h>

_Static_assert(sizeof(((struct io_uring_sqe *)NULL)->__pad2) >= 3 * sizeof(__u64),
               "libfev writes three words of padding that this io_uring_sqe does not have");
