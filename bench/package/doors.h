/* SPDX-License-Identifier: Apache-2.0 */
/* What doors.py calls; each function times `count` forecasts, that of the mean or median included, and says 0 when it
 * could. */
#ifndef TOTOGRAPH_BENCH_PACKAGE_DOORS_H
#define TOTOGRAPH_BENCH_PACKAGE_DOORS_H

#include <stdint.h>
#include <time.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct request_of_doors {
    const float* values; /* [variates, steps] */
    int64_t variates;
    int64_t steps;
    int64_t horizon;
    int64_t samples; /* 0: the mean. */
    int64_t count;
};
typedef struct request_of_doors request_of_doors;

static inline double microseconds_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

/* In C++: with what is compiled in where the package is NULL. */
typedef struct door door;
door* door_open(const char* package, const char* checkpoint, int32_t threads);
int door_time(door* opened, const request_of_doors* request, double* microseconds);
const float* door_result(const door* opened);

/* In C, with a service of the package that is there already: what two services hold lies in different places, which
 * moves times by more than a door does. */
typedef struct c_door c_door;
c_door* c_door_open(const char* package, void* service);
int c_door_time(c_door* opened, const request_of_doors* request, double* microseconds);
const float* c_door_result(const c_door* opened);

#if defined(__cplusplus)
}
#endif

#endif
