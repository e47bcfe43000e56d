/* SPDX-License-Identifier: Apache-2.0 */
/* The door of C (doors.h): functions of a package that dlopen has loaded. */
#define _POSIX_C_SOURCE 200809L
#include "doors.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <totograph/c/totograph.h>

struct c_door {
    totograph_service* service;
    float* result;
    __typeof__(&totograph_service_forecast) service_forecast;
    __typeof__(&totograph_forecast_quantiles) forecast_quantiles;
    __typeof__(&totograph_forecast_mean) forecast_mean;
    __typeof__(&totograph_forecast_release) forecast_release;
};

/* POSIX: dlsym gives functions as pointers to data. */
#define FIND(place, name) (*(void**)&(place) = dlsym(library, "totograph_" #name))

c_door* c_door_open(const char* package, void* service) {
    c_door* const opened = calloc(1, sizeof(c_door));
    void* const library = dlopen(package, RTLD_NOW);
    if (library == NULL || opened == NULL) {
        fprintf(stderr, "doors: %s\n", dlerror());
        return NULL;
    }
    opened->service = service;
    FIND(opened->service_forecast, service_forecast);
    FIND(opened->forecast_quantiles, forecast_quantiles);
    FIND(opened->forecast_mean, forecast_mean);
    FIND(opened->forecast_release, forecast_release);
    return opened;
}

int c_door_time(c_door* opened, const request_of_doors* asked, double* microseconds) {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    const double level = 0.5;
    int64_t i;
    opened->result = realloc(opened->result, sizeof(float) * (size_t)(asked->variates * asked->horizon));
    for (i = 0; i < asked->count; ++i) {
        const double begin = microseconds_now();
        totograph_series series = TOTOGRAPH_SERIES_INIT;
        totograph_request request = TOTOGRAPH_REQUEST_INIT;
        totograph_forecast* forecast = NULL;
        totograph_status status;
        series.batch = series.nan_is_gap = 1;
        series.variates = asked->variates;
        series.steps = asked->steps;
        series.values = asked->values;
        request.horizon = asked->horizon;
        request.samples = asked->samples == 0 ? TOTOGRAPH_MEAN : asked->samples;
        status = opened->service_forecast(opened->service, &series, &request, &forecast, &error);
        if (status == TOTOGRAPH_OK) {
            status = asked->samples == 0
                         ? opened->forecast_mean(forecast, opened->result, NULL, &error)
                         : opened->forecast_quantiles(forecast, &level, 1, opened->result, NULL, &error);
        }
        opened->forecast_release(forecast);
        microseconds[i] = microseconds_now() - begin;
        if (status != TOTOGRAPH_OK) {
            fprintf(stderr, "doors: %s\n", error.sentence);
            return 1;
        }
    }
    return 0;
}

const float* c_door_result(const c_door* opened) {
    return opened->result;
}
