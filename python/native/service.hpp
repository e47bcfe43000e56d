// SPDX-License-Identifier: Apache-2.0
// A checkpoint behind a package, and its forecasts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "forecast.hpp"

namespace totograph_python {

struct Service {
    PyObject_HEAD PyObject* library;
    PyObject* patch_size;
    PyObject* levels;
    PyObject* buckets;
    totograph_service* handle;
};

inline Service& service_of(PyObject* self) {
    return *reinterpret_cast<Service*>(self);
}

inline void service_free(PyObject* self) {
    Service& service = service_of(self);
    if (service.handle != nullptr) {
        end(functions_of(service.library).service_destroy, service.handle);
    }
    for (PyObject** one : {&service.library, &service.patch_size, &service.levels, &service.buckets}) {
        Py_CLEAR(*one);
    }
    free_object(self);
}

inline PyObject* bucket_of(const totograph_bucket& bucket) {
    return Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:L}", "batch", static_cast<long long>(bucket.batch), "variates",
                         static_cast<long long>(bucket.variates), "context", static_cast<long long>(bucket.context),
                         "horizon", static_cast<long long>(bucket.horizon), "samples",
                         static_cast<long long>(bucket.samples), "exogenous", static_cast<long long>(bucket.exogenous));
}

inline bool describe(Service& service, const totograph_model* model) {
    const Functions& functions = functions_of(service.library);
    totograph_model_facts facts{};
    facts.size = sizeof facts;
    if (!run_at_once(functions.model_describe, model, &facts)) {
        return false;
    }
    service.patch_size = PyLong_FromLongLong(facts.patch_size);
    service.levels = PyTuple_New(static_cast<Py_ssize_t>(facts.level_count));
    service.buckets = PyTuple_New(static_cast<Py_ssize_t>(facts.buckets));
    if (service.levels == nullptr || service.buckets == nullptr) {
        return false;
    }
    for (std::uint64_t i = 0; i < facts.level_count; ++i) {
        PyTuple_SetItem(service.levels, static_cast<Py_ssize_t>(i), PyFloat_FromDouble(facts.levels[i]));
    }
    for (std::uint64_t i = 0; i < facts.buckets; ++i) {
        totograph_bucket bucket{};
        bucket.size = sizeof bucket;
        if (!run_at_once(functions.model_bucket, model, i, &bucket)) {
            return false;
        }
        PyTuple_SetItem(service.buckets, static_cast<Py_ssize_t>(i), bucket_of(bucket));
    }
    return PyErr_Occurred() == nullptr;
}

// Service(library, checkpoint, mode, threads, device)
inline PyObject* service_new(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
    PyObject* library = nullptr;
    PyObject* path = nullptr;
    totograph_service_options options = TOTOGRAPH_SERVICE_OPTIONS_INIT;
    if (PyArg_ParseTuple(arguments, "O!O&zii", known.library_type, &library, PyUnicode_FSConverter, &path,
                         &options.mode, &options.threads, &options.device) == 0) {
        return nullptr;
    }
    const Ref checkpoint(path);
    Ref self(PyType_GenericAlloc(type, 0));
    if (!self) {
        return nullptr;
    }
    Service& service = service_of(self.get());
    service.library = Ref::to(library).release();
    const Functions& functions = functions_of(library);
    totograph_model* model = nullptr;
    if (!run(functions.model_open, static_cast<const char*>(PyBytes_AsString(path)), &model)) {
        return nullptr;
    }
    const bool made =
        describe(service, model) && run(functions.service_create, static_cast<const totograph_model*>(model),
                                        static_cast<const totograph_service_options*>(&options), &service.handle);
    functions.model_close(model);  // the service goes on
    return made ? self.release() : nullptr;
}

inline PyObject* service_warm_up(PyObject* self, PyObject* arguments) {
    int forecasts = 0;
    if (PyArg_ParseTuple(arguments, "i", &forecasts) == 0 ||
        !run(functions_of(service_of(self).library).service_warm_up, service_of(self).handle,
             static_cast<std::int32_t>(forecasts))) {
        return nullptr;
    }
    return Ref::to(Py_None).release();
}

inline PyObject* service_metrics(PyObject* self, PyObject* arguments) {
    const char* format = nullptr;
    char* text = nullptr;
    const Functions& functions = functions_of(service_of(self).library);
    if (PyArg_ParseTuple(arguments, "s", &format) == 0 ||
        !run(functions.service_metrics, static_cast<const totograph_service*>(service_of(self).handle), format,
             &text)) {
        return nullptr;
    }
    PyObject* const made = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
    functions.text_free(text);
    return made;
}

// A whole number; false with Python's error set for what is none.
inline bool read_number(PyObject* given, std::int64_t& number) {
    const Ref index(PyNumber_Index(given));
    number = index ? PyLong_AsLongLong(index.get()) : -1;
    return PyErr_Occurred() == nullptr;
}

inline bool read_seed(PyObject* given, std::uint64_t& seed) {
    const Ref index(PyNumber_Index(given));
    seed = index ? PyLong_AsUnsignedLongLong(index.get()) : 0;
    return PyErr_Occurred() == nullptr;
}

// What a request says beside its series, in the order of the arguments. `PyObject*` are borrowed.
struct Asked {
    PyObject* horizon;
    PyObject* samples;
    PyObject* seed;
    PyObject* extend;
};

// Has Python say what is wrong.
inline bool refuse(const Asked& asked) {
    const Ref error = taken_error();
    call(known.refuse_request, asked.horizon, asked.samples, asked.seed, asked.extend, error ? error.get() : Py_None);
    return false;
}

inline bool read_request(const Asked& asked, totograph_request& request) {
    request = TOTOGRAPH_REQUEST_INIT;
    std::int64_t samples = 0;
    std::int64_t extend = 0;
    if ((asked.horizon != Py_None && !read_number(asked.horizon, request.horizon)) ||
        (asked.samples != Py_None && !read_number(asked.samples, samples)) || !read_seed(asked.seed, request.seed) ||
        !read_number(asked.extend, extend)) {
        return refuse(asked);
    }
    if ((asked.horizon != Py_None && request.horizon < 1) || samples < 0) {
        return refuse(asked);
    }
    request.samples = samples == 0 && asked.samples != Py_None ? TOTOGRAPH_MEAN : samples;
    request.extend = extend != 0 ? 1 : 0;
    return true;
}

// Addresses and numbers of what most requests lack: None, or (observed, groups, exogenous, known future, whether that
// is observed, its steps), whose arrays the caller keeps.
inline bool read_extras(PyObject* extras, totograph_series& series) {
    if (extras == Py_None) {
        return true;
    }
    std::array<unsigned long long, 4> at{};
    long long exogenous = 0;
    long long steps = 0;
    if (PyArg_ParseTuple(extras, "KKLKKL", &at[0], &at[1], &exogenous, &at[2], &at[3], &steps) == 0) {
        return false;
    }
    series.observed = reinterpret_cast<const std::uint8_t*>(at[0]);
    series.groups = reinterpret_cast<const std::int32_t*>(at[1]);
    series.exogenous = exogenous;
    series.future_exogenous = reinterpret_cast<const float*>(at[2]);
    series.future_observed = reinterpret_cast<const std::uint8_t*>(at[3]);
    series.future_steps = steps;
    return true;
}

// forecast(series, names, horizon, quantiles, samples, seed, extend, extras)
inline PyObject* service_forecast(PyObject* self, PyObject* arguments) {
    Service& service = service_of(self);
    PyObject* values = nullptr;
    PyObject* of_variates = nullptr;
    PyObject* quantiles = nullptr;
    PyObject* extras = nullptr;
    Asked asked{};
    Series series;
    totograph_request request;
    totograph_series given = TOTOGRAPH_SERIES_INIT;
    if (PyArg_UnpackTuple(arguments, "forecast", 8, 8, &values, &of_variates, &asked.horizon, &quantiles,
                          &asked.samples, &asked.seed, &asked.extend, &extras) == 0) {
        return nullptr;
    }
    // What the caller changes or uses up later must not change the result.
    Ref levels = Ref::to(quantiles);
    const Ref each(PyObject_GetIter(quantiles));
    if (!each && PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
        return nullptr;
    }
    if (each) {
        levels = Ref(PySequence_Tuple(each.get()));
        if (!levels) {
            return nullptr;  // what a generator raised
        }
    } else {  // no sequence: whoever asks for quantiles is told
        PyErr_Clear();
    }
    Ref names = Ref::to(of_variates);
    if (!read_series(values, series, names) || !read_request(asked, request) || !read_extras(extras, given)) {
        return nullptr;
    }
    given.batch = series.shape[0];
    given.variates = series.shape[1];
    given.steps = series.shape[2];
    given.values = series.values;
    std::copy(series.strides.begin(), series.strides.end(), given.values_strides);
    given.nan_is_gap = 1;
    totograph_forecast* handle = nullptr;
    if (!run(functions_of(service.library).service_forecast, service.handle,
             static_cast<const totograph_series*>(&given), static_cast<const totograph_request*>(&request), &handle)) {
        return nullptr;
    }
    const std::int64_t horizon = given.future_exogenous == nullptr ? request.horizon : 0;
    return make_forecast(service.library, handle, series, horizon, levels.get(), std::move(names));
}

// The numbers of a tuple of up to three, as the last of them.
inline bool read_axes(PyObject* tuple, std::int64_t missing, std::array<std::int64_t, 3>& to) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count < 1 || count > 3) {
        PyErr_SetString(PyExc_ValueError, "A series has one to three axes.");
        return false;
    }
    to.fill(missing);
    for (Py_ssize_t axis = 0; axis < count; ++axis) {
        to[static_cast<std::size_t>(3 - count + axis)] = PyLong_AsLongLong(PyTuple_GetItem(tuple, axis));
    }
    return PyErr_Occurred() == nullptr;
}

// forecast_on(stream, on_device, address, shape, strides, horizon, samples, seed, extend, extras):
// (batch, variates, horizon, values, address, address of the count of what is not finite)
inline PyObject* service_forecast_on(PyObject* self, PyObject* arguments) {
    Service& service = service_of(self);
    unsigned long long stream = 0;
    unsigned long long address = 0;
    int on_device = 0;
    PyObject* of_shape = nullptr;
    PyObject* of_strides = nullptr;
    std::array<std::int64_t, 3> shape{};
    std::array<std::int64_t, 3> strides{};
    Asked asked{};
    PyObject* extras = nullptr;
    totograph_series given = TOTOGRAPH_SERIES_INIT;
    totograph_request request;
    if (PyArg_ParseTuple(arguments, "KpKO!O!OOOOO", &stream, &on_device, &address, &PyTuple_Type, &of_shape,
                         &PyTuple_Type, &of_strides, &asked.horizon, &asked.samples, &asked.seed, &asked.extend,
                         &extras) == 0 ||
        !read_axes(of_shape, 1, shape) || !read_axes(of_strides, 0, strides) || !read_request(asked, request) ||
        !read_extras(extras, given)) {
        return nullptr;
    }
    given.batch = shape[0];
    given.variates = shape[1];
    given.steps = shape[2];
    given.values = reinterpret_cast<const float*>(address);
    std::copy(strides.begin(), strides.end(), given.values_strides);
    if (given.values_strides[0] == 0 && given.values_strides[1] == 0 && given.values_strides[2] == 0) {
        given.values_strides[2] = 1;  // of one number; three zeros mean row-major
    }
    given.nan_is_gap = 1;
    totograph_device_forecast made = TOTOGRAPH_DEVICE_FORECAST_INIT;
    if (!run(functions_of(service.library).service_forecast_on, service.handle, reinterpret_cast<void*>(stream),
             static_cast<const totograph_series*>(&given), static_cast<const totograph_request*>(&request),
             static_cast<std::uint32_t>(on_device != 0 ? TOTOGRAPH_SERIES_ON_DEVICE : 0), &made)) {
        return nullptr;
    }
    return Py_BuildValue("(LLLLKK)", static_cast<long long>(made.batch), static_cast<long long>(made.variates),
                         static_cast<long long>(made.horizon), static_cast<long long>(made.value_count),
                         reinterpret_cast<unsigned long long>(made.values),
                         reinterpret_cast<unsigned long long>(made.not_finite));
}

// wait_stream(stream, other)
inline PyObject* service_wait_stream(PyObject* self, PyObject* arguments) {
    const Service& service = service_of(self);
    unsigned long long stream = 0;
    unsigned long long other = 0;
    if (PyArg_ParseTuple(arguments, "KK", &stream, &other) == 0 ||
        !run(functions_of(service.library).service_wait_stream, service.handle, reinterpret_cast<void*>(stream),
             reinterpret_cast<void*>(other))) {
        return nullptr;
    }
    return Ref::to(Py_None).release();
}

template <PyObject* Service::*member>
PyObject* service_fact(PyObject* self, void* /*closure*/) {
    return Ref::to(service_of(self).*member).release();
}

inline PyObject* service_address(PyObject* self, void* /*closure*/) {
    return PyLong_FromVoidPtr(service_of(self).handle);
}

inline PyObject* make_service_type() {
    static PyGetSetDef properties[] = {
        {"patch_size", service_fact<&Service::patch_size>, nullptr, "Steps that the model takes at a time.", nullptr},
        {"levels", service_fact<&Service::levels>, nullptr, "Of the quantiles that it forecasts.", nullptr},
        {"buckets", service_fact<&Service::buckets>, nullptr, "The sizes that it is compiled for.", nullptr},
        {"address", service_address, nullptr, "The `totograph_service*` of C.", nullptr},
        {nullptr, nullptr, nullptr, nullptr, nullptr}};
    static PyMethodDef methods[] = {
        {"warm_up", service_warm_up, METH_VARARGS, "warm_up(forecasts)"},
        {"metrics", service_metrics, METH_VARARGS, "metrics(format)"},
        {"forecast", service_forecast, METH_VARARGS,
         "forecast(series, names, horizon, quantiles, samples, seed, extend, extras)"},
        {"forecast_on", service_forecast_on, METH_VARARGS,
         "forecast_on(stream, on_device, address, shape, strides, horizon, samples, seed, extend, extras)"},
        {"wait_stream", service_wait_stream, METH_VARARGS, "wait_stream(stream, other)"},
        {nullptr, nullptr, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(service_new)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(service_free)},
                                  {Py_tp_getset, properties},
                                  {Py_tp_methods, methods},
                                  {0, nullptr}};
    static PyType_Spec spec = {"totograph._native.Service", sizeof(Service), 0, Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}

}  // namespace totograph_python
