/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C interface of a package: a shared library that holds a model compiled for some sizes of requests. C99.
 *
 * - A structure begins with its `size`, in bytes, which the caller sets: the macros `..._INIT` do, and fill the rest
 *   with 0, which everywhere means "as usual". A package of a later version reads the shorter structures of an earlier
 *   one; an earlier package refuses a longer one, unless what it does not know is 0.
 * - What can fail returns a status, TOTOGRAPH_OK or what kind of thing went wrong, and writes a sentence to `error`,
 *   which may be NULL. Then it has written nothing else. Nothing is thrown across this interface.
 * - Sizes, offsets and strides count elements.
 * - A model may be used by any number of threads. So may a service, which serves them one after the other, and a
 *   forecast, which only one thread releases. Objects of one package are not to be given to another.
 */
#ifndef TOTOGRAPH_C_TOTOGRAPH_H
#define TOTOGRAPH_C_TOTOGRAPH_H

/* It is C, with the names that C has. NOLINTBEGIN(modernize-*,readability-identifier-naming) */

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define TOTOGRAPH_NOEXCEPT noexcept
extern "C" {
#else
#define TOTOGRAPH_NOEXCEPT
#endif

#if defined(__GNUC__)
#define TOTOGRAPH_API __attribute__((visibility("default")))
#else
#define TOTOGRAPH_API
#endif

/* Changes when a program that was compiled with this header could not use a package of another number. */
#define TOTOGRAPH_ABI_VERSION 1

/* What kind of thing went wrong: TOTOGRAPH_OK, or a value of `totograph::ErrorCode` plus 1. */
typedef int32_t totograph_status;
enum {
    TOTOGRAPH_OK = 0,
    TOTOGRAPH_INVALID_ARGUMENT = 1,  /* A value given by the caller cannot be used. */
    TOTOGRAPH_INVALID_SERIES = 2,    /* A series is empty, entirely missing, or not finite where it is observed. */
    TOTOGRAPH_NO_BUCKET = 3,         /* No compiled size serves the request. */
    TOTOGRAPH_FILE_NOT_FOUND = 4,    /* A file cannot be opened. */
    TOTOGRAPH_IO_FAILURE = 5,        /* Reading or writing a file failed half way. */
    TOTOGRAPH_INVALID_FILE = 6,      /* A file's content breaks its format. */
    TOTOGRAPH_CONFIG_MISMATCH = 7,   /* A checkpoint is of another model than the package's. */
    TOTOGRAPH_MISSING_TENSOR = 8,    /* A checkpoint lacks a tensor. */
    TOTOGRAPH_UNEXPECTED_TENSOR = 9, /* A checkpoint holds a tensor that the model does not know. */
    TOTOGRAPH_TENSOR_MISMATCH = 10,  /* A tensor has another shape, or values that are not finite. */
    TOTOGRAPH_NOT_FINITE = 11,       /* A forecast has values that the model gave no finite number for. */
    TOTOGRAPH_POSITION_OUT_OF_BOUNDS = 12,
    TOTOGRAPH_DEVICE_FAILURE = 13,
    TOTOGRAPH_OUT_OF_MEMORY = 14,
    TOTOGRAPH_RECAPTURE = 15,
    TOTOGRAPH_UNFORESEEN = 100 /* Anything else; the sentence says what. */
};

/* What went wrong, as a sentence, UTF-8, cut where it is longer. */
typedef struct totograph_error {
    uint64_t size;
    totograph_status status;
    char sentence[2036];
} totograph_error;
#define TOTOGRAPH_ERROR_INIT                     \
    {                                            \
        sizeof(totograph_error), TOTOGRAPH_OK, { \
            0                                    \
        }                                        \
    }

/* A checkpoint's model, a service of it, and a result. */
typedef struct totograph_model totograph_model;
typedef struct totograph_service totograph_service;
typedef struct totograph_forecast totograph_forecast;

/* Sizes that the package was compiled for. Smaller requests are padded, which does not change their forecast. */
typedef struct totograph_bucket {
    uint64_t size;
    int64_t batch;     /* Series in one call. */
    int64_t variates;  /* Variates of a series, exogenous ones included. */
    int64_t context;   /* Steps of history. */
    int64_t horizon;   /* Steps to forecast. */
    int64_t samples;   /* Sampled futures; 0 for the mean, or the quantiles, of the model itself. */
    int64_t exogenous; /* How many of the variates may be exogenous with a known future. */
} totograph_bucket;

/* What a model is. Pointers stay valid as long as the model. */
typedef struct totograph_model_facts {
    uint64_t size;
    const char* name;
    uint64_t buckets;     /* How many there are. */
    int64_t patch_size;   /* Steps that the model takes at a time. */
    const double* levels; /* Of the quantiles that it forecasts, ascending; NULL for a model that samples. */
    uint64_t level_count;
    int32_t takes_future_gaps;    /* Whether a known future may have gaps. */
    int32_t takes_groups_by_step; /* Whether a variate may change its group on the way. */
} totograph_model_facts;

/* What is decided when a service is made. */
typedef struct totograph_service_options {
    uint64_t size;
    const char* mode; /* As the environment variable TOTOGRAPH_MODE spells it, which goes before, as TOTOGRAPH_DISABLE
                         does, but not before one that is named with `only`; NULL: max-autotune. */
    int32_t threads;  /* That a forecast may use, at most 4096; 0: all processors that the process may use. */
    int32_t device;   /* Of a backend that has several; the CPU does not read it. */
    const totograph_bucket* only; /* NULL: all buckets of the package serve; else this one alone. */
} totograph_service_options;
#define TOTOGRAPH_SERVICE_OPTIONS_INIT \
    { sizeof(totograph_service_options), NULL, 0, 0, NULL }

/* What a forecast starts from, in memory of the caller's: [batch, variates, steps], the newest step last. */
typedef struct totograph_series {
    uint64_t size;
    int64_t batch;
    int64_t variates; /* Targets first, then exogenous variates. */
    int64_t steps;
    const float* values;
    int64_t values_strides[3]; /* Of batch, variates, steps. All 0: row-major. Steps of stride 1, in rows that lie
                                  equally far apart, are read in place; all else is copied first. */
    const uint8_t* observed;   /* 1 where `values` holds an observation; NULL: everywhere. */
    int64_t observed_strides[3];
    const int32_t* groups;          /* [batch, variates]: those of equal id attend to each other; NULL: all do. */
    int64_t exogenous;              /* How many of the last variates are exogenous. */
    const float* future_exogenous;  /* [batch, exogenous, future_steps]: their known future; NULL: unknown. Of no
                                       exogenous variate it is an error, unless it has 0 steps. */
    const uint8_t* future_observed; /* The same, 1 where it is known; NULL: everywhere. */
    int64_t future_steps;           /* Of a known future: the horizon or more. */
    uint32_t first_series; /* Number of the first series among all that the caller forecasts: names its samples. */
    int32_t nan_is_gap;    /* Whether NaN in `values` means that nothing was observed; else it is an error. */
} totograph_series;
#define TOTOGRAPH_SERIES_INIT \
    { sizeof(totograph_series), 0, 0, 0, NULL, {0, 0, 0}, NULL, {0, 0, 0}, NULL, 0, NULL, NULL, 0, 0, 0 }

/* For `samples` of a request: the mean, of a model that samples. */
#define TOTOGRAPH_MEAN (-1)

/* What may differ from call to call. */
typedef struct totograph_request {
    uint64_t size;
    int64_t horizon; /* Steps to forecast; 0: as many as the bucket that serves. */
    int64_t samples; /* Futures to sample; 0: as many as the bucket that serves; TOTOGRAPH_MEAN for the mean. */
    uint64_t seed;   /* The same seed gives the same samples. */
    uint32_t first_sample;
    int32_t refuse_long_context; /* A context longer than the bucket's is an error; else its newest steps are used. */
    int32_t extend;              /* A horizon beyond the bucket's goes on from medians; else it is an error. */
    int32_t reserved;            /* 0. */
} totograph_request;
#define TOTOGRAPH_REQUEST_INIT \
    { sizeof(totograph_request), 0, 0, 0, 0, 0, 0, 0 }

/* What a result holds. Pointers stay valid until it is released. */
typedef struct totograph_forecast_facts {
    uint64_t size;
    int64_t batch;
    int64_t variates;
    int64_t horizon;
    int64_t samples;      /* Sampled futures; 0 of a forecast of the mean, or of quantiles. */
    int64_t context;      /* Steps of history that it was made from. */
    int64_t not_finite;   /* Values that are no finite number: with any, nothing here is worth using. */
    const float* values;  /* Row-major [batch, variates, horizon], and of samples or quantiles a last axis of them. */
    const double* levels; /* Of the quantiles that the model forecasts, ascending; NULL for samples and means. */
    uint64_t level_count;
} totograph_forecast_facts;

/* TOTOGRAPH_ABI_VERSION of the package; its library's version, like "0.1.0". */
TOTOGRAPH_API uint32_t totograph_abi_version(void) TOTOGRAPH_NOEXCEPT;
TOTOGRAPH_API const char* totograph_version(void) TOTOGRAPH_NOEXCEPT;

/* Opens a checkpoint, a file or a folder, as the model of the package that its config.json describes. */
TOTOGRAPH_API totograph_status totograph_model_open(const char* checkpoint, totograph_model** model,
                                                    totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* Frees a model, or does nothing for NULL. Services of it go on. */
TOTOGRAPH_API void totograph_model_close(totograph_model* model) TOTOGRAPH_NOEXCEPT;
TOTOGRAPH_API totograph_status totograph_model_describe(const totograph_model* model, totograph_model_facts* facts,
                                                        totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* One of the buckets, the cheapest first. */
TOTOGRAPH_API totograph_status totograph_model_bucket(const totograph_model* model, uint64_t which,
                                                      totograph_bucket* bucket,
                                                      totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* What would run for requests of a bucket in a mode, as JSON. `totograph_text_free` frees the text. */
TOTOGRAPH_API totograph_status totograph_model_explain(const totograph_model* model, const totograph_bucket* bucket,
                                                       const char* mode, char** text,
                                                       totograph_error* error) TOTOGRAPH_NOEXCEPT;

/* Makes a service of a model; `options` may be NULL. It builds what requests need, when they come. */
TOTOGRAPH_API totograph_status totograph_service_create(const totograph_model* model,
                                                        const totograph_service_options* options,
                                                        totograph_service** service,
                                                        totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* Frees a service, or does nothing for NULL. Its results stay. */
TOTOGRAPH_API void totograph_service_destroy(totograph_service* service) TOTOGRAPH_NOEXCEPT;
/* Builds every bucket ahead, and makes so many forecasts with each. */
TOTOGRAPH_API totograph_status totograph_service_warm_up(totograph_service* service, int32_t forecasts,
                                                         totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* Whether everything that was warmed up is built: 1 or 0. */
TOTOGRAPH_API int32_t totograph_service_is_ready(const totograph_service* service) TOTOGRAPH_NOEXCEPT;
/* Bytes that everything built holds beside the weights. */
TOTOGRAPH_API uint64_t totograph_service_memory(const totograph_service* service) TOTOGRAPH_NOEXCEPT;
/* Counters and latencies, as "json" or as the text that "prometheus" reads. `totograph_text_free` frees it. */
TOTOGRAPH_API totograph_status totograph_service_metrics(const totograph_service* service, const char* format,
                                                         char** text, totograph_error* error) TOTOGRAPH_NOEXCEPT;
TOTOGRAPH_API void totograph_text_free(char* text) TOTOGRAPH_NOEXCEPT;

/* Forecasts the steps after a series; `request` may be NULL. The series may be freed afterwards. */
TOTOGRAPH_API totograph_status totograph_service_forecast(totograph_service* service, const totograph_series* series,
                                                          const totograph_request* request,
                                                          totograph_forecast** forecast,
                                                          totograph_error* error) TOTOGRAPH_NOEXCEPT;

/* For `flags` of `totograph_service_forecast_on`: `values` of the series point to memory of the device. */
#define TOTOGRAPH_SERIES_ON_DEVICE 1

/* A result in memory of the device. It is there when what is on the stream has run, and is overwritten by the next
   forecast of the service. */
typedef struct totograph_device_forecast {
    uint64_t size;
    int64_t batch;
    int64_t variates;
    int64_t horizon;
    int64_t value_count;        /* Of each step: samples, quantiles at the levels of the model, or 1 for the mean. */
    const float* values;        /* Row-major [batch, variates, horizon, value_count], of the device. */
    const uint32_t* not_finite; /* How many values are no finite number: memory that host and device read. */
} totograph_device_forecast;
#define TOTOGRAPH_DEVICE_FORECAST_INIT \
    { sizeof(totograph_device_forecast), 0, 0, 0, 0, NULL, NULL }

/*
 * Of a package for CUDA: puts a forecast onto a stream of the caller's, a `cudaStream_t` (NULL: the default one) of the
 * service's device, and returns. The series has been read then, but for values on the device: those are read when the
 * stream has come to here, with any strides, and never by the host; until then they stay as they are. An observed one
 * that is no finite number makes values of the result NaN, a variate without any is taken for one of zeros, and both
 * count in `not_finite`. The request has to fit a bucket in one piece. Who reads the result on the same stream comes
 * before the next call; readers on other streams must have finished before it.
 */
TOTOGRAPH_API totograph_status totograph_service_forecast_on(totograph_service* service, void* stream,
                                                             const totograph_series* series,
                                                             const totograph_request* request, uint32_t flags,
                                                             totograph_device_forecast* result,
                                                             totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* Of a package for CUDA: lets what is put onto a stream from now on wait for what is on another one by now, both of the
   service's device. The host does not wait. So a series may be made on another stream than the forecast's, and its
   result read on one. */
TOTOGRAPH_API totograph_status totograph_service_wait_stream(totograph_service* service, void* stream, void* other,
                                                             totograph_error* error) TOTOGRAPH_NOEXCEPT;

/* Frees a result, or does nothing for NULL. */
TOTOGRAPH_API void totograph_forecast_release(totograph_forecast* forecast) TOTOGRAPH_NOEXCEPT;
TOTOGRAPH_API totograph_status totograph_forecast_describe(const totograph_forecast* forecast,
                                                           totograph_forecast_facts* facts,
                                                           totograph_error* error) TOTOGRAPH_NOEXCEPT;

/*
 * What follows writes to memory of the caller's. `strides` tells, in elements, how far apart its elements lie on each
 * axis; NULL: row-major.
 */

/* Quantiles at levels between 0 and 1: [levels, batch, variates, horizon]. */
TOTOGRAPH_API totograph_status totograph_forecast_quantiles(const totograph_forecast* forecast, const double* levels,
                                                            uint64_t level_count, float* to, const int64_t strides[4],
                                                            totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* The mean, the model's own or that of the samples: [batch, variates, horizon]. */
TOTOGRAPH_API totograph_status totograph_forecast_mean(const totograph_forecast* forecast, float* to,
                                                       const int64_t strides[3],
                                                       totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* The standard deviation of the samples, with n - 1: [batch, variates, horizon]. */
TOTOGRAPH_API totograph_status totograph_forecast_stddev(const totograph_forecast* forecast, float* to,
                                                         const int64_t strides[3],
                                                         totograph_error* error) TOTOGRAPH_NOEXCEPT;
/* Samples: [batch, variates, horizon, count]. Of a forecast of samples they are its own, and `count` is theirs; of a
   forecast of quantiles so many are drawn with the seed, each step by itself. */
TOTOGRAPH_API totograph_status totograph_forecast_samples(const totograph_forecast* forecast, uint64_t count,
                                                          uint64_t seed, float* to, const int64_t strides[4],
                                                          totograph_error* error) TOTOGRAPH_NOEXCEPT;

#if defined(__cplusplus)
}
#endif

/* NOLINTEND(modernize-*,readability-identifier-naming) */

#endif
