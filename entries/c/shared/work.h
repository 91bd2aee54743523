/*
 * The scenarios with work: how much of it a request asks for, and the work itself.
 *
 * A file that includes this one has to define _GNU_SOURCE first.
 */
#ifndef WORK_H
#define WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* The digits of `GET /123456`, at most six, by their place in the head. */
enum { FIRST_DIGIT = 5, AFTER_DIGITS = 11 };

/* The state within a head, which may be split over any number of reads. All zero at its start. */
struct work_reader {
    uint32_t work_us;        /* The value of the digits so far. */
    uint8_t position;        /* AFTER_DIGITS from the first byte on that is not a digit. */
    uint8_t terminator_seen; /* How many bytes of the terminator the head so far ends with. */
};

static inline void read_digit(struct work_reader *reader, char byte) {
    if (reader->position < FIRST_DIGIT) {
        reader->position++;
    } else if (byte >= '0' && byte <= '9') {
        reader->work_us = reader->work_us * 10 + (uint32_t)(byte - '0');
        reader->position++;
    } else {
        reader->position = AFTER_DIGITS;
    }
}

/*
 * Reads up to the end of the next head, which `*bytes` points to afterwards, and gives its work.
 * False if the bytes end before the head does.
 */
static inline bool next_work(struct work_reader *reader, const char **bytes, const char *end,
                             long *work_us) {
    static const char terminator[] = "\r\n\r\n";
    for (const char *at = *bytes; at < end; at++) {
        if (reader->position < AFTER_DIGITS) {
            read_digit(reader, *at);
        } else if (reader->terminator_seen == 0) {
            at = memchr(at, '\r', (size_t)(end - at));
            if (at == NULL)
                break;
        }
        if (*at == terminator[reader->terminator_seen])
            reader->terminator_seen++;
        else
            reader->terminator_seen = *at == '\r';
        if (reader->terminator_seen == 4) {
            *work_us = reader->work_us;
            *reader = (struct work_reader){0};
            *bytes = at + 1;
            return true;
        }
    }
    *bytes = end;
    return false;
}

static inline int64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Keeps the CPU busy until the clock has advanced by that much. */
static inline void work_for_us(long work_us) {
    if (work_us == 0)
        return;
    int64_t end = monotonic_ns() + work_us * INT64_C(1000);
    while (monotonic_ns() < end)
        continue;
}

#endif
