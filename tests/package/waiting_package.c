/* SPDX-License-Identifier: Apache-2.0
 * Stands in for a package whose services and results wait at their end, as real ones do for work in the background:
 * until `let_go` is called, for five seconds at most. */
#define _POSIX_C_SOURCE 199309L
#include <stdatomic.h>
#include <time.h>

#include <totograph/c/totograph.h>

static atomic_int waits, goes_on;
static int something;

TOTOGRAPH_API int is_waiting(void) {
    return waits;
}
TOTOGRAPH_API void let_go(void) {
    goes_on = 1;
}
/* Whether the wait before was ended by `let_go`; the next one begins anew. */
TOTOGRAPH_API int was_let_go(void) {
    return atomic_exchange(&goes_on, 0);
}

static void wait_for_others(void) {
    const struct timespec millisecond = {0, 1000000};
    waits = 1;
    for (int i = 0; i < 5000 && !goes_on; ++i) {
        nanosleep(&millisecond, NULL);
    }
    waits = 0;
}

totograph_status totograph_model_open(const char* checkpoint, totograph_model** model, totograph_error* error) {
    *model = (totograph_model*)&something;
    return TOTOGRAPH_OK;
}
void totograph_model_close(totograph_model* model) {}
totograph_status totograph_model_describe(const totograph_model* model, totograph_model_facts* facts,
                                          totograph_error* error) {
    return TOTOGRAPH_OK; /* no levels, no buckets */
}
totograph_status totograph_service_create(const totograph_model* model, const totograph_service_options* options,
                                          totograph_service** service, totograph_error* error) {
    *service = (totograph_service*)&something;
    return TOTOGRAPH_OK;
}
void totograph_service_destroy(totograph_service* service) {
    wait_for_others();
}
totograph_status totograph_service_forecast(totograph_service* service, const totograph_series* series,
                                            const totograph_request* request, totograph_forecast** forecast,
                                            totograph_error* error) {
    *forecast = (totograph_forecast*)&something;
    return TOTOGRAPH_OK;
}
void totograph_forecast_release(totograph_forecast* forecast) {
    wait_for_others();
}

/* What the test does not call is there all the same. */
totograph_status totograph_model_bucket(const totograph_model* model, uint64_t which, totograph_bucket* bucket,
                                        totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_service_warm_up(totograph_service* service, int32_t forecasts, totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_service_metrics(const totograph_service* service, const char* format, char** text,
                                           totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_service_forecast_on(totograph_service* service, void* stream, const totograph_series* series,
                                               const totograph_request* request, uint32_t flags,
                                               totograph_device_forecast* result, totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_service_wait_stream(totograph_service* service, void* stream, void* other,
                                               totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
void totograph_text_free(char* text) {}
totograph_status totograph_forecast_describe(const totograph_forecast* forecast, totograph_forecast_facts* facts,
                                             totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_forecast_quantiles(const totograph_forecast* forecast, const double* levels,
                                              uint64_t level_count, float* to, const int64_t strides[4],
                                              totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_forecast_mean(const totograph_forecast* forecast, float* to, const int64_t strides[3],
                                         totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_forecast_stddev(const totograph_forecast* forecast, float* to, const int64_t strides[3],
                                           totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
totograph_status totograph_forecast_samples(const totograph_forecast* forecast, uint64_t count, uint64_t seed,
                                            float* to, const int64_t strides[4], totograph_error* error) {
    return TOTOGRAPH_UNFORESEEN;
}
