/* Where request heads end: the only thing of HTTP that this server knows. */
#ifndef HEADS_H
#define HEADS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Counts the heads that end in these bytes. A terminator may be split over any number of reads, so
 * `terminator_seen` keeps how many bytes of it the input so far ends with.
 */
static inline size_t count_heads(uint8_t *terminator_seen, const char *bytes, size_t length) {
    static const char terminator[] = "\r\n\r\n";
    const char *end = bytes + length;
    unsigned seen = *terminator_seen;
    size_t heads = 0;
    while (bytes < end) {
        if (seen == 0) {
            bytes = memchr(bytes, '\r', (size_t)(end - bytes));
            if (bytes == NULL)
                break;
            /* Away from the end of the bytes, one comparison of four bytes decides. */
            if (end - bytes >= 4) {
                size_t found = memcmp(bytes, terminator, 4) == 0;
                heads += found;
                bytes += found ? 4 : 1;
                continue;
            }
        }
        if (*bytes == terminator[seen])
            seen++;
        else
            seen = *bytes == '\r';
        if (seen == 4) {
            seen = 0;
            heads++;
        }
        bytes++;
    }
    *terminator_seen = (uint8_t)seen;
    return heads;
}

#endif
