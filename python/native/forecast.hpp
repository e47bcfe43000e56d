// SPDX-License-Identifier: Apache-2.0
// A result: what it holds is written to new arrays when it is asked for.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arrays.hpp"
#include "library.hpp"

namespace totograph_python {

struct Forecast {
    PyObject_HEAD PyObject* library;  // keeps the functions
    PyObject* levels;                 // as they were asked for
    PyObject* names;                  // of the variates, or None
    totograph_forecast* handle;
    int rank;                           // of the series
    std::array<std::int64_t, 3> shape;  // [batch, variates, horizon]; a horizon of 0: ask the package
};

inline Forecast& forecast_of(PyObject* self) {
    return *reinterpret_cast<Forecast*>(self);
}
inline const Functions& functions_of(PyObject* library) {
    return reinterpret_cast<Library*>(library)->functions;
}

inline int forecast_traverse(PyObject* self, visitproc visit, void* arg) {
    Forecast& forecast = forecast_of(self);
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(forecast.library);
    Py_VISIT(forecast.levels);
    Py_VISIT(forecast.names);
    return 0;
}

inline int forecast_clear(PyObject* self) {
    Forecast& forecast = forecast_of(self);
    Py_CLEAR(forecast.levels);
    Py_CLEAR(forecast.names);
    return 0;
}

inline void forecast_free(PyObject* self) {
    PyObject_GC_UnTrack(self);
    Forecast& forecast = forecast_of(self);
    if (forecast.library != nullptr) {
        end(functions_of(forecast.library).forecast_release, forecast.handle);
    }
    forecast_clear(self);
    Py_CLEAR(forecast.library);
    free_object(self);
}

// Takes the handle, also where it fails.
inline PyObject* make_forecast(PyObject* library, totograph_forecast* handle, const Series& series,
                               std::int64_t horizon, PyObject* levels, Ref names) {
    PyObject* const self = PyType_GenericAlloc(known.forecast_type, 0);
    if (self == nullptr) {
        end(functions_of(library).forecast_release, handle);
        return nullptr;
    }
    Forecast& forecast = forecast_of(self);
    forecast.library = Ref::to(library).release();
    forecast.levels = Ref::to(levels).release();
    forecast.names = names.release();
    forecast.handle = handle;
    forecast.rank = series.rank;
    forecast.shape = {series.shape[0], series.shape[1], horizon};
    return self;
}

inline bool describe(const Forecast& forecast, totograph_forecast_facts& facts) {
    facts.size = sizeof facts;
    return run_at_once(functions_of(forecast.library).forecast_describe, forecast.handle, &facts);
}

// Memory that was not touched since before the forecast is far away: what is known now is not asked for.
inline bool find_shape(Forecast& forecast) {
    if (forecast.shape[2] > 0) {
        return true;
    }
    totograph_forecast_facts facts{};
    if (!describe(forecast, facts)) {
        return false;
    }
    forecast.shape = {facts.batch, facts.variates, facts.horizon};
    return true;
}

// A new array [before, *lead, horizon, after], without the axes that are negative. Empty: Python's error is set.
inline Result result_of(Forecast& forecast, std::int64_t before = -1, std::int64_t after = -1) {
    if (!find_shape(forecast)) {
        return {};
    }
    std::array<Py_ssize_t, NumPy::most_axes> shape{};
    int rank = 0;
    const auto add = [&shape, &rank](std::int64_t extent) {
        shape[static_cast<std::size_t>(rank++)] = static_cast<Py_ssize_t>(extent);
    };
    if (before >= 0) {
        add(before);
    }
    for (int axis = 3 - forecast.rank; axis < 3; ++axis) {
        add(forecast.shape[static_cast<std::size_t>(axis)]);
    }
    if (after >= 0) {
        add(after);
    }
    return make_result(rank, shape.data());
}

inline PyObject* forecast_mean(PyObject* self, void* /*closure*/) {
    Forecast& forecast = forecast_of(self);
    Result result = result_of(forecast);
    const bool done = result.values != nullptr && run(functions_of(forecast.library).forecast_mean, forecast.handle,
                                                      result.values, static_cast<const std::int64_t*>(nullptr));
    return done ? result.array.release() : nullptr;
}

inline PyObject* forecast_stddev(PyObject* self, void* /*closure*/) {
    Forecast& forecast = forecast_of(self);
    Result result = result_of(forecast);
    const bool done = result.values != nullptr && run(functions_of(forecast.library).forecast_stddev, forecast.handle,
                                                      result.values, static_cast<const std::int64_t*>(nullptr));
    return done ? result.array.release() : nullptr;
}

inline PyObject* quantiles_at(Forecast& forecast, const double* levels, std::size_t count, bool has_axis) {
    Result result = result_of(forecast, has_axis ? static_cast<std::int64_t>(count) : -1);
    if (count == 0) {  // C takes no empty list
        return result.array.release();
    }
    const bool done = result.values != nullptr &&
                      run(functions_of(forecast.library).forecast_quantiles, forecast.handle, levels,
                          static_cast<std::uint64_t>(count), result.values, static_cast<const std::int64_t*>(nullptr));
    return done ? result.array.release() : nullptr;
}

inline PyObject* forecast_median(PyObject* self, void* /*closure*/) {
    constexpr double half = 0.5;
    return quantiles_at(forecast_of(self), &half, 1, false);
}

inline bool read_level(PyObject* given, double& level) {
    level = PyFloat_AsDouble(given);
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "The level of a quantile is a number between 0 and 1; found %R.", given);
        return false;
    }
    return true;
}

inline bool read_levels(PyObject* given, std::vector<double>& levels) {
    const Ref items(PySequence_Tuple(given));
    const Py_ssize_t count = items ? PyTuple_Size(items.get()) : -1;
    if (count < 0) {
        PyErr_Clear();
        PyErr_Format(PyExc_ValueError, "The levels of quantiles are a sequence of numbers; found %R.", given);
        return false;
    }
    levels.resize(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!read_level(PyTuple_GetItem(items.get(), i), levels[static_cast<std::size_t>(i)])) {
            return false;
        }
    }
    return true;
}

inline PyObject* forecast_quantiles(PyObject* self, void* /*closure*/) {
    std::vector<double> levels;
    return read_levels(forecast_of(self).levels, levels)
               ? quantiles_at(forecast_of(self), levels.data(), levels.size(), true)
               : nullptr;
}

inline PyObject* forecast_quantile(PyObject* self, PyObject* given) {
    double level = 0;
    return read_level(given, level) ? quantiles_at(forecast_of(self), &level, 1, false) : nullptr;
}

inline PyObject* forecast_levels(PyObject* self, void* /*closure*/) {
    std::vector<double> levels;
    if (!read_levels(forecast_of(self).levels, levels)) {
        return nullptr;
    }
    Ref made(PyTuple_New(static_cast<Py_ssize_t>(levels.size())));
    for (std::size_t i = 0; made && i < levels.size(); ++i) {
        PyTuple_SetItem(made.get(), static_cast<Py_ssize_t>(i), PyFloat_FromDouble(levels[i]));
    }
    return made.release();
}

inline PyObject* forecast_samples(PyObject* self, PyObject* arguments, PyObject* keywords) {
    static const char* names[] = {"count", "seed", nullptr};
    PyObject* given_count = Py_None;
    unsigned long long seed = 0;
    PyObject* given_seed = nullptr;
    if (PyArg_ParseTupleAndKeywords(arguments, keywords, "|OO:samples", const_cast<char**>(names), &given_count,
                                    &given_seed) == 0) {
        return nullptr;
    }
    Forecast& forecast = forecast_of(self);
    std::int64_t count = 0;
    if (given_count == Py_None) {
        totograph_forecast_facts facts{};
        if (!describe(forecast, facts)) {
            return nullptr;
        }
        count = facts.samples;
        if (count == 0) {
            PyErr_SetString(PyExc_ValueError, "This forecast has no samples of its own; say how many are to be drawn.");
            return nullptr;
        }
    } else {
        const Ref number(PyNumber_Index(given_count));
        count = number ? PyLong_AsLongLong(number.get()) : -1;
    }
    if (PyErr_Occurred() == nullptr && given_seed != nullptr) {
        const Ref number(PyNumber_Index(given_seed));
        seed = number ? PyLong_AsUnsignedLongLong(number.get()) : 0;
    }
    if (PyErr_Occurred() != nullptr || count < 1) {
        PyErr_Clear();
        PyErr_Format(
            PyExc_ValueError,
            "The count of samples (%R) and their seed (%R) are whole numbers: 1 or more of them, and a seed from "
            "0 to 2^64 - 1.",
            given_count, given_seed == nullptr ? Py_None : given_seed);
        return nullptr;
    }
    Result result = result_of(forecast, -1, count);
    const bool done =
        result.values != nullptr &&
        run(functions_of(forecast.library).forecast_samples, forecast.handle, static_cast<std::uint64_t>(count),
            static_cast<std::uint64_t>(seed), result.values, static_cast<const std::int64_t*>(nullptr));
    return done ? result.array.release() : nullptr;
}

template <std::int64_t totograph_forecast_facts::*member>
PyObject* forecast_fact(PyObject* self, void* /*closure*/) {
    totograph_forecast_facts facts{};
    return describe(forecast_of(self), facts) ? PyLong_FromLongLong(facts.*member) : nullptr;
}

inline PyObject* forecast_is_finite(PyObject* self, void* /*closure*/) {
    totograph_forecast_facts facts{};
    return describe(forecast_of(self), facts) ? PyBool_FromLong(facts.not_finite == 0 ? 1 : 0) : nullptr;
}

inline PyObject* forecast_names(PyObject* self, void* /*closure*/) {
    return Ref::to(forecast_of(self).names).release();
}

inline PyObject* forecast_new(PyTypeObject* /*type*/, PyObject* /*arguments*/, PyObject* /*keywords*/) {
    PyErr_SetString(PyExc_TypeError, "A forecast is made by Model.forecast, and cannot be made or copied otherwise.");
    return nullptr;
}

inline PyObject* make_forecast_type() {
    static PyGetSetDef properties[] = {
        {"horizon", forecast_fact<&totograph_forecast_facts::horizon>, nullptr, "Steps that were forecast.", nullptr},
        {"context", forecast_fact<&totograph_forecast_facts::context>, nullptr,
         "Steps of history that it was made from, the newest ones.", nullptr},
        {"batch", forecast_fact<&totograph_forecast_facts::batch>, nullptr, "How many series it is of.", nullptr},
        {"is_finite", forecast_is_finite, nullptr,
         "Whether the model gave a finite number for each value; otherwise nothing here is worth using.", nullptr},
        {"levels", forecast_levels, nullptr, "The levels of `quantiles`, as they were asked for.", nullptr},
        {"names", forecast_names, nullptr, "Of the variates, where the series had columns; else None.", nullptr},
        {"quantiles", forecast_quantiles, nullptr, "The quantiles that were asked for: `[levels, *lead, horizon]`.",
         nullptr},
        {"median", forecast_median, nullptr, "`[*lead, horizon]`.", nullptr},
        {"mean", forecast_mean, nullptr, "The mean, of the model or of the samples: `[*lead, horizon]`.", nullptr},
        {"stddev", forecast_stddev, nullptr, "The standard deviation of the samples, with n - 1: `[*lead, horizon]`.",
         nullptr},
        {nullptr, nullptr, nullptr, nullptr, nullptr}};
    static PyMethodDef methods[] = {
        {"quantile", forecast_quantile, METH_O, "A quantile at a level: `[*lead, horizon]`."},
        {"samples", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(forecast_samples)),
         METH_VARARGS | METH_KEYWORDS,
         "samples(count=None, seed=0): `[*lead, horizon, count]`. Those of a model that samples are there already; of "
         "one that forecasts quantiles, `count` are drawn with the seed, each step by itself."},
        {nullptr, nullptr, 0, nullptr}};
    static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(forecast_free)},
                                  {Py_tp_traverse, reinterpret_cast<void*>(forecast_traverse)},
                                  {Py_tp_clear, reinterpret_cast<void*>(forecast_clear)},
                                  {Py_tp_new, reinterpret_cast<void*>(forecast_new)},
                                  {Py_tp_getset, properties},
                                  {Py_tp_methods, methods},
                                  {0, nullptr}};
    static PyType_Spec spec = {"totograph._native.Forecast", sizeof(Forecast), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    return PyType_FromSpec(&spec);
}

}  // namespace totograph_python
