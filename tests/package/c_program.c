/* SPDX-License-Identifier: Apache-2.0 */
/* A program in C forecasts with a package, and the layout of the interface is that of abi.txt. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <totograph/c/totograph.h>

static int failures = 0;
#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            ++failures;                                                     \
        }                                                                   \
    } while (0)

static char table[8192];
static void add_line(const char* name, size_t number) {
    const size_t used = strlen(table);
    snprintf(table + used, sizeof table - used, "%s %u\n", name, (unsigned)number);
}
#define SIZE(structure) add_line(#structure, sizeof(structure))
#define OFFSET(structure, member) add_line(#structure "." #member, offsetof(structure, member))

static void check_layout(const char* expected_file) {
    static char expected[8192];
    FILE* const file = fopen(expected_file, "rb");
    CHECK(file != NULL);
    if (file != NULL) {
        expected[fread(expected, 1, sizeof expected - 1, file)] = '\0';
        fclose(file);
    }
    SIZE(totograph_error);
    OFFSET(totograph_error, status);
    OFFSET(totograph_error, sentence);
    SIZE(totograph_bucket);
    OFFSET(totograph_bucket, batch);
    OFFSET(totograph_bucket, variates);
    OFFSET(totograph_bucket, context);
    OFFSET(totograph_bucket, horizon);
    OFFSET(totograph_bucket, samples);
    OFFSET(totograph_bucket, exogenous);
    SIZE(totograph_model_facts);
    OFFSET(totograph_model_facts, name);
    OFFSET(totograph_model_facts, buckets);
    OFFSET(totograph_model_facts, patch_size);
    OFFSET(totograph_model_facts, levels);
    OFFSET(totograph_model_facts, level_count);
    OFFSET(totograph_model_facts, takes_future_gaps);
    OFFSET(totograph_model_facts, takes_groups_by_step);
    SIZE(totograph_service_options);
    OFFSET(totograph_service_options, mode);
    OFFSET(totograph_service_options, threads);
    OFFSET(totograph_service_options, device);
    OFFSET(totograph_service_options, only);
    SIZE(totograph_series);
    OFFSET(totograph_series, batch);
    OFFSET(totograph_series, variates);
    OFFSET(totograph_series, steps);
    OFFSET(totograph_series, values);
    OFFSET(totograph_series, values_strides);
    OFFSET(totograph_series, observed);
    OFFSET(totograph_series, observed_strides);
    OFFSET(totograph_series, groups);
    OFFSET(totograph_series, exogenous);
    OFFSET(totograph_series, future_exogenous);
    OFFSET(totograph_series, future_observed);
    OFFSET(totograph_series, future_steps);
    OFFSET(totograph_series, first_series);
    OFFSET(totograph_series, nan_is_gap);
    SIZE(totograph_request);
    OFFSET(totograph_request, horizon);
    OFFSET(totograph_request, samples);
    OFFSET(totograph_request, seed);
    OFFSET(totograph_request, first_sample);
    OFFSET(totograph_request, refuse_long_context);
    OFFSET(totograph_request, extend);
    OFFSET(totograph_request, reserved);
    SIZE(totograph_forecast_facts);
    OFFSET(totograph_forecast_facts, batch);
    OFFSET(totograph_forecast_facts, variates);
    OFFSET(totograph_forecast_facts, horizon);
    OFFSET(totograph_forecast_facts, samples);
    OFFSET(totograph_forecast_facts, context);
    OFFSET(totograph_forecast_facts, not_finite);
    OFFSET(totograph_forecast_facts, values);
    OFFSET(totograph_forecast_facts, levels);
    OFFSET(totograph_forecast_facts, level_count);
    SIZE(totograph_device_forecast);
    OFFSET(totograph_device_forecast, batch);
    OFFSET(totograph_device_forecast, variates);
    OFFSET(totograph_device_forecast, horizon);
    OFFSET(totograph_device_forecast, value_count);
    OFFSET(totograph_device_forecast, values);
    OFFSET(totograph_device_forecast, not_finite);
    if (strcmp(table, expected) != 0) {
        fprintf(stderr, "The layout differs from %s; a changed one needs another TOTOGRAPH_ABI_VERSION:\n%s",
                expected_file, table);
        ++failures;
    }
}

enum { steps = 48, horizon = 20 };

static void check_forecasts(totograph_service* service) {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_series series = TOTOGRAPH_SERIES_INIT;
    totograph_request request = TOTOGRAPH_REQUEST_INIT;
    totograph_forecast* forecast = NULL;
    totograph_forecast* turned = NULL;
    totograph_forecast_facts facts;
    float values[steps];
    float table_of_both[steps][2];
    const double levels[] = {0.1, 0.5, 0.9};
    float quantiles[3][horizon];
    float apart[horizon][3];
    const int64_t apart_strides[] = {1, 0, 0, 3};
    int i;
    for (i = 0; i < steps; ++i) {
        values[i] = (float)sin(0.4 * i);
        table_of_both[i][0] = values[i];
        table_of_both[i][1] = 0;
    }
    series.batch = series.variates = 1;
    series.steps = steps;
    series.values = values;
    request.horizon = horizon;
    request.seed = 7;
    CHECK(totograph_service_forecast(service, &series, &request, &forecast, &error) == TOTOGRAPH_OK);
    memset(&facts, 0, sizeof facts);
    facts.size = sizeof facts;
    CHECK(totograph_forecast_describe(forecast, &facts, &error) == TOTOGRAPH_OK);
    CHECK(facts.batch == 1 && facts.variates == 1 && facts.horizon == horizon && facts.samples == 8);
    CHECK(facts.context == steps && facts.not_finite == 0 && facts.levels == NULL);
    CHECK(totograph_forecast_quantiles(forecast, levels, 3, quantiles[0], NULL, &error) == TOTOGRAPH_OK);
    CHECK(totograph_forecast_quantiles(forecast, levels, 3, apart[0], apart_strides, &error) == TOTOGRAPH_OK);
    for (i = 0; i < horizon; ++i) {
        CHECK(quantiles[0][i] <= quantiles[1][i] && quantiles[1][i] <= quantiles[2][i]);
        CHECK(apart[i][0] == quantiles[0][i] && apart[i][2] == quantiles[2][i]);
    }

    /* A column of a table, whose steps do not touch, is the same series. */
    series.values = table_of_both[0];
    series.values_strides[0] = series.values_strides[1] = 1;
    series.values_strides[2] = 2;
    CHECK(totograph_service_forecast(service, &series, &request, &turned, &error) == TOTOGRAPH_OK);
    CHECK(totograph_forecast_quantiles(turned, levels, 3, apart[0], apart_strides, &error) == TOTOGRAPH_OK);
    CHECK(apart[3][1] == quantiles[1][3]);
    totograph_forecast_release(turned);

    /* Mistakes: each gives a status and a sentence, and leaves the result alone. */
    turned = NULL;
    values[4] = (float)NAN;
    series.values = values;
    series.values_strides[0] = series.values_strides[1] = series.values_strides[2] = 0;
    CHECK(totograph_service_forecast(service, &series, &request, &turned, &error) == TOTOGRAPH_INVALID_SERIES);
    CHECK(turned == NULL && strstr(error.sentence, "holds NaN or infinity") != NULL);
    series.nan_is_gap = 1;
    CHECK(totograph_service_forecast(service, &series, &request, &turned, &error) == TOTOGRAPH_OK);
    totograph_forecast_release(turned);
    series.values = NULL;
    CHECK(totograph_service_forecast(service, &series, &request, &turned, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    CHECK(totograph_service_forecast(service, NULL, &request, &turned, NULL) == TOTOGRAPH_INVALID_ARGUMENT);
    request.size = 0;
    CHECK(totograph_service_forecast(service, &series, &request, &turned, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    CHECK(strstr(error.sentence, "totograph_request") != NULL);
    CHECK(totograph_forecast_stddev(NULL, values, NULL, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    totograph_forecast_release(forecast);
}

/* A package for the processor has no streams. */
static void check_streams(totograph_service* service) {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_series series = TOTOGRAPH_SERIES_INIT;
    totograph_device_forecast made = TOTOGRAPH_DEVICE_FORECAST_INIT;
    float values[steps] = {1, 2, 3};
    uint32_t flags;
    series.batch = series.variates = 1;
    series.steps = steps;
    series.values = values;
    for (flags = 0; flags <= TOTOGRAPH_SERIES_ON_DEVICE; ++flags) {
        CHECK(totograph_service_forecast_on(service, NULL, &series, NULL, flags, &made, &error) ==
              TOTOGRAPH_INVALID_ARGUMENT);
        CHECK(strstr(error.sentence, "has no streams") != NULL && made.values == NULL);
    }
    CHECK(totograph_service_forecast_on(service, NULL, &series, NULL, 2, &made, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    CHECK(strstr(error.sentence, "later version") != NULL);
    CHECK(totograph_service_wait_stream(service, NULL, NULL, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    CHECK(strstr(error.sentence, "has no streams") != NULL);
}

/* What a program of a later version would pass. */
static void check_versions(const totograph_model* model) {
    struct {
        totograph_service_options known;
        uint64_t later;
    } options = {TOTOGRAPH_SERVICE_OPTIONS_INIT, 0};
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_service* service = NULL;
    options.known.size = sizeof options;
    CHECK(totograph_service_create(model, &options.known, &service, &error) == TOTOGRAPH_OK);
    totograph_service_destroy(service);
    options.later = 1;
    CHECK(totograph_service_create(model, &options.known, &service, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    CHECK(strstr(error.sentence, "later version") != NULL);
}

int main(int count, char** arguments) {
    totograph_error error = TOTOGRAPH_ERROR_INIT;
    totograph_model* model = NULL;
    totograph_service* service = NULL;
    char* text = NULL;
    if (count != 3) {
        return 2;
    }
    check_layout(arguments[2]);
    CHECK(totograph_abi_version() == TOTOGRAPH_ABI_VERSION);
    CHECK(totograph_model_open("no_such_folder", &model, &error) == TOTOGRAPH_FILE_NOT_FOUND && model == NULL);
    CHECK(totograph_model_open(arguments[1], &model, &error) == TOTOGRAPH_OK);
    check_versions(model);
    CHECK(totograph_service_create(model, NULL, &service, &error) == TOTOGRAPH_OK);
    totograph_model_close(model); /* services go on */
    CHECK(totograph_service_warm_up(service, 1, &error) == TOTOGRAPH_OK);
    CHECK(totograph_service_is_ready(service) == 1 && totograph_service_memory(service) > 0);
    check_forecasts(service);
    check_streams(service);
    CHECK(totograph_service_metrics(service, "prometheus", &text, &error) == TOTOGRAPH_OK);
    CHECK(text != NULL && strstr(text, "totograph_") != NULL);
    totograph_text_free(text);
    CHECK(totograph_service_metrics(service, "xml", &text, &error) == TOTOGRAPH_INVALID_ARGUMENT);
    totograph_service_destroy(service);
    return failures == 0 ? 0 : 1;
}
