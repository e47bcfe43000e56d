// SPDX-License-Identifier: Apache-2.0
// A package that was loaded: its functions, and its errors as Python's.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

#include <totograph/c/totograph.h>

#include "references.hpp"

namespace totograph_python {

#define TOTOGRAPH_PYTHON_FUNCTIONS(each)                                                                   \
    each(model_open) each(model_close) each(model_describe) each(model_bucket) each(service_create)        \
        each(service_destroy) each(service_warm_up) each(service_metrics) each(service_forecast)           \
            each(service_forecast_on) each(service_wait_stream) each(text_free) each(forecast_release)     \
                each(forecast_describe) each(forecast_quantiles) each(forecast_mean) each(forecast_stddev) \
                    each(forecast_samples)

struct Functions {
#define TOTOGRAPH_PYTHON_MEMBER(name) decltype(&totograph_##name) name = nullptr;
    TOTOGRAPH_PYTHON_FUNCTIONS(TOTOGRAPH_PYTHON_MEMBER)
#undef TOTOGRAPH_PYTHON_MEMBER
};

// The error that a call of the package writes to. Its sentence is not cleared ahead, for that takes longer than the
// call.
struct Error {
    Error() {
        raw.size = sizeof(raw);
        raw.status = TOTOGRAPH_OK;
        raw.sentence[0] = '\0';
    }
    totograph_error raw;
};

inline PyObject* exception_of(totograph_status status) {
    switch (status) {
        case TOTOGRAPH_FILE_NOT_FOUND: return PyExc_FileNotFoundError;
        case TOTOGRAPH_IO_FAILURE: return PyExc_OSError;
        case TOTOGRAPH_OUT_OF_MEMORY: return PyExc_MemoryError;
        case TOTOGRAPH_DEVICE_FAILURE:
        case TOTOGRAPH_RECAPTURE:
        case TOTOGRAPH_UNFORESEEN: return PyExc_RuntimeError;
        default: return PyExc_ValueError;  // what the caller can mend
    }
}

// Sets Python's error to what a call reported.
inline void raise_error(totograph_status status, const Error& error) {
    const Ref sentence(
        PyUnicode_DecodeUTF8(error.raw.sentence, static_cast<Py_ssize_t>(std::strlen(error.raw.sentence)), "replace"));
    if (sentence) {
        PyErr_SetObject(exception_of(status), sentence.get());
    }
}

// Takes the interpreter's lock again. Where Python ends meanwhile, versions before 3.14 end the thread in there by
// unwinding it, which would let go of objects of Python without the lock. It stays here instead, as in later versions.
inline void resume(PyThreadState* thread) {
    try {
        PyEval_RestoreThread(thread);
    } catch (...) {
        for (;;) {
            ::pause();  // for leaving this block would end the process
        }
    }
}

// Calls a function of the package, whose last argument is the error, while other threads of Python run. Returns whether
// it did what it should; else Python's error is set.
template <class Function, class... Arguments>
bool run(Function function, Arguments... arguments) {
    Error error;
    PyThreadState* const thread = PyEval_SaveThread();
    const totograph_status status = function(arguments..., &error.raw);
    resume(thread);
    if (status != TOTOGRAPH_OK) {
        raise_error(status, error);
    }
    return status == TOTOGRAPH_OK;
}

// The same of a call that is shorter than giving the interpreter's lock away and getting it back.
template <class Function, class... Arguments>
bool run_at_once(Function function, Arguments... arguments) {
    Error error;
    const totograph_status status = function(arguments..., &error.raw);
    if (status != TOTOGRAPH_OK) {
        raise_error(status, error);
    }
    return status == TOTOGRAPH_OK;
}

// Ends what a handle stands for, while other threads of Python run: that may wait for work in the background.
template <class Handle>
void end(void (*function)(Handle*), Handle* handle) {
    PyThreadState* const thread = PyEval_SaveThread();
    function(handle);
    resume(thread);
}

struct Library {
    PyObject_HEAD Functions functions;
};

template <class Function>
bool find(void* loaded, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(loaded, name));
    return function != nullptr;
}

// A package stays loaded: results may point into it.
inline PyObject* library_new(PyTypeObject* type, PyObject* arguments, PyObject* /*keywords*/) {
    PyObject* path = nullptr;
    if (PyArg_ParseTuple(arguments, "O&", PyUnicode_FSConverter, &path) == 0) {
        return nullptr;
    }
    const Ref bytes(path);
    void* const loaded = dlopen(PyBytes_AsString(path), RTLD_NOW | RTLD_LOCAL);
    if (loaded == nullptr) {
        PyErr_Format(PyExc_ValueError, "The file '%s' cannot be loaded: %s.", PyBytes_AsString(path), dlerror());
        return nullptr;
    }
    Functions functions;
    const char* lacks = nullptr;
#define TOTOGRAPH_PYTHON_FIND(name)                          \
    if (!find(loaded, "totograph_" #name, functions.name)) { \
        lacks = "totograph_" #name;                          \
    }
    TOTOGRAPH_PYTHON_FUNCTIONS(TOTOGRAPH_PYTHON_FIND)
#undef TOTOGRAPH_PYTHON_FIND
    if (lacks != nullptr) {
        PyErr_Format(PyExc_ValueError, "The file '%s' is no whole package: it lacks the function %s. Build it anew.",
                     PyBytes_AsString(path), lacks);
        return nullptr;
    }
    PyObject* const made = PyType_GenericAlloc(type, 0);
    if (made != nullptr) {
        reinterpret_cast<Library*>(made)->functions = functions;
    }
    return made;
}

// For all types here: frees what `PyType_GenericAlloc` made.
inline void free_object(PyObject* self) {
    PyTypeObject* const type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

inline PyObject* make_library_type() {
    static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(library_new)},
                                  {Py_tp_dealloc, reinterpret_cast<void*>(free_object)},
                                  {0, nullptr}};
    static PyType_Spec spec = {"totograph._native.Library", sizeof(Library), 0, Py_TPFLAGS_DEFAULT, slots};
    return PyType_FromSpec(&spec);
}

}  // namespace totograph_python
