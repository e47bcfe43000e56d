// SPDX-License-Identifier: Apache-2.0
// Objects of Python, by the part of its C interface that is the same from 3.9 on.
#pragma once

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>

#include <utility>

namespace totograph_python {

// A reference that is counted; empty after a call that failed, while Python's error is set.
class Ref {
public:
    Ref() = default;
    explicit Ref(PyObject* owned) : object_(owned) {}
    static Ref to(PyObject* borrowed) {
        Py_XINCREF(borrowed);
        return Ref(borrowed);
    }
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    Ref(Ref&& other) noexcept : object_(other.release()) {}
    Ref& operator=(Ref&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Ref() { Py_XDECREF(object_); }

    [[nodiscard]] PyObject* get() const { return object_; }
    PyObject* release() { return std::exchange(object_, nullptr); }
    explicit operator bool() const { return object_ != nullptr; }

private:
    PyObject* object_ = nullptr;
};

// Calls with positional arguments.
template <class... Arguments>
Ref call(PyObject* function, Arguments*... arguments) {
    return Ref(PyObject_CallFunctionObjArgs(function, arguments..., nullptr));
}

// Takes the error that is set away: its value, empty where an extension set it without one.
inline Ref taken_error() {
    PyObject* type = nullptr;
    PyObject* value = nullptr;
    PyObject* trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return Ref(value);
}

// What the module was given by Python once, and keeps until the process ends.
struct Known {
    PyObject* values_of = nullptr;       // (series) -> (names, aligned float32 array)
    PyObject* refuse_request = nullptr;  // (horizon, samples, seed, extend, error): raises
    PyTypeObject* forecast_type = nullptr;
    PyObject* library_type = nullptr;
    PyObject* dlpack_name = nullptr;
};
inline Known known;

}  // namespace totograph_python
