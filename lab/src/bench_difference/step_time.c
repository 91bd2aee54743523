/* Prints how many nanoseconds one step of extra_work.h takes on this CPU: the median of nine rounds. */
#include "extra_work.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, STEPS = 20000000 };

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(void) {
    double rounds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct timespec before, after;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        extra_work((unsigned long)round, STEPS);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        double seconds = (double)(after.tv_sec - before.tv_sec);
        rounds[round] = (seconds * 1e9 + (double)(after.tv_nsec - before.tv_nsec)) / STEPS;
    }
    qsort(rounds, ROUNDS, sizeof rounds[0], by_value);
    printf("%.6f\n", rounds[ROUNDS / 2]);
    return 0;
}
