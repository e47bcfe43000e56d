/* SPDX-License-Identifier: Apache-2.0 */
/* Times one forecast after the other through the C interface: `call PACKAGE CHECKPOINT STEPS HORIZON SAMPLES COUNT`
 * prints the microseconds of each, that of the means or medians included. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <totograph/c/totograph.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

int main(int count, char** arguments) {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_service_options options = TOTOGRAPH_SERVICE_OPTIONS_INIT;
    totograph_model* model = NULL;
    totograph_service* service = NULL;
    void* const library = count == 7 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "call: %s\n", count == 7 ? dlerror() : "expected six arguments");
        return 1;
    }
    options.threads = 1;
/* POSIX: dlsym gives functions as pointers to data. */
#define LOAD(name)                      \
    __typeof__(&totograph_##name) name; \
    *(void**)&(name) = dlsym(library, "totograph_" #name)
    LOAD(model_open);
    LOAD(service_create);
    LOAD(service_forecast);
    LOAD(forecast_quantiles);
    LOAD(forecast_mean);
    LOAD(forecast_release);
    if (model_open(arguments[2], &model, &error) != TOTOGRAPH_OK ||
        service_create(model, &options, &service, &error) != TOTOGRAPH_OK) {
        fprintf(stderr, "call: %s\n", error.sentence);
        return 1;
    }
    const long steps = atol(arguments[3]), horizon = atol(arguments[4]), samples = atol(arguments[5]);
    float* const values = malloc(sizeof(float) * (size_t)steps);
    float* const result = malloc(sizeof(float) * (size_t)horizon);
    for (long i = 0; i < steps; ++i) {
        values[i] = (float)sin(0.3 * (double)i);
    }
    for (long i = 0, rounds = atol(arguments[6]); i < rounds; ++i) {
        const double begin = now(), level = 0.5;
        totograph_series series = TOTOGRAPH_SERIES_INIT;
        totograph_request request = TOTOGRAPH_REQUEST_INIT;
        totograph_forecast* forecast = NULL;
        series.batch = series.variates = series.nan_is_gap = 1;
        series.steps = steps;
        series.values = values;
        request.horizon = horizon;
        request.samples = samples == 0 ? TOTOGRAPH_MEAN : samples;
        totograph_status status = service_forecast(service, &series, &request, &forecast, &error);
        if (status == TOTOGRAPH_OK) {
            status = samples == 0 ? forecast_mean(forecast, result, NULL, &error)
                                  : forecast_quantiles(forecast, &level, 1, result, NULL, &error);
        }
        forecast_release(forecast);
        if (status != TOTOGRAPH_OK) {
            fprintf(stderr, "call: %s\n", error.sentence);
            return 1;
        }
        printf("%.2f\n", now() - begin);
    }
    return 0;
}
