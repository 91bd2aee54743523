/* echo: the bytes of a connection that could not be sent at once, first in, first out. */
#ifndef BACKLOG_H
#define BACKLOG_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A chunk keeps its place until all of it is sent, because the kernel sends from it. */
struct chunk {
    struct chunk *next;
    size_t length, offset;
    char bytes[];
};

struct backlog {
    struct chunk *first, *last;
};

static inline int append(struct backlog *backlog, const char *bytes, size_t length) {
    struct chunk *chunk = malloc(sizeof *chunk + length);
    if (chunk == NULL)
        return -1;
    *chunk = (struct chunk){.length = length};
    memcpy(chunk->bytes, bytes, length);
    if (backlog->first == NULL)
        backlog->first = chunk;
    else
        backlog->last->next = chunk;
    backlog->last = chunk;
    return 0;
}

static inline void drop_first(struct backlog *backlog) {
    struct chunk *chunk = backlog->first;
    backlog->first = chunk->next;
    free(chunk);
}

/* The first chunk has sent so many bytes more. */
static inline void advance(struct backlog *backlog, size_t sent) {
    backlog->first->offset += sent;
    if (backlog->first->offset == backlog->first->length)
        drop_first(backlog);
}

#endif
