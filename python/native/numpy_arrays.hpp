// SPDX-License-Identifier: Apache-2.0
// NumPy's arrays where they lie. NumPy hands its functions to extensions as a table, whose order and whose head of an
// array are the same from NumPy 1.7 to 2.x (its `numpy_api.py` and `ndarraytypes.h`), so none is needed to compile
// this.
#pragma once

#include <cstdint>

#include "references.hpp"

namespace totograph_python {

// What each array of NumPy begins with.
struct ArrayHead {
    PyObject_HEAD char* data;
    int rank;
    Py_ssize_t* shape;
    Py_ssize_t* strides;  // in bytes
    PyObject* base;
    PyObject* dtype;
    int flags;
};

struct NumPy {
    static constexpr int most_axes = 5;
    static constexpr int is_aligned = 0x0100;

    PyTypeObject* array_type = nullptr;
    PyObject* float32 = nullptr;  // the dtype in the machine's order of bytes, of which there is one
    PyObject* (*new_from_dtype)(PyTypeObject*, PyObject*, int, const Py_ssize_t*, const Py_ssize_t*, void*, int,
                                PyObject*) = nullptr;
};
inline NumPy numpy;

inline const ArrayHead& head_of(PyObject* array) {
    return *reinterpret_cast<const ArrayHead*>(array);
}

// A new array of float32, row-major, not set to anything.
inline Ref new_array(int rank, const Py_ssize_t* shape) {
    Py_INCREF(numpy.float32);  // the function takes it
    return Ref(numpy.new_from_dtype(numpy.array_type, numpy.float32, rank, shape, nullptr, nullptr, 0, nullptr));
}

// Whether this NumPy is laid out as what is above says.
inline bool is_as_expected() {
    constexpr Py_ssize_t shape[] = {2, 3};
    const Ref array = new_array(2, shape);
    if (!array) {
        return false;
    }
    const Ref interface(PyObject_GetAttrString(array.get(), "__array_interface__"));
    const Ref data(interface ? PyObject_GetItem(interface.get(), Ref(PyUnicode_FromString("data")).get()) : nullptr);
    const Ref address(data ? PySequence_GetItem(data.get(), 0) : nullptr);
    const ArrayHead& head = head_of(array.get());
    return address && PyLong_AsVoidPtr(address.get()) == head.data && head.rank == 2 && head.shape[0] == 2 &&
           head.shape[1] == 3 && head.strides[0] == 12 && head.strides[1] == 4 && head.dtype == numpy.float32 &&
           (head.flags & NumPy::is_aligned) != 0;
}

// Finds the table; false with Python's error set.
inline bool find_numpy() {
    constexpr int version_at = 0;
    constexpr int array_type_at = 2;
    constexpr int dtype_of_number_at = 45;
    constexpr int new_from_dtype_at = 94;
    constexpr int number_of_float32 = 11;
    Ref module(PyImport_ImportModule("numpy._core._multiarray_umath"));
    if (!module) {  // its name before NumPy 2
        PyErr_Clear();
        module = Ref(PyImport_ImportModule("numpy.core._multiarray_umath"));
    }
    const Ref capsule(module ? PyObject_GetAttrString(module.get(), "_ARRAY_API") : nullptr);
    void** const table = capsule ? static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr)) : nullptr;
    if (table == nullptr) {
        return false;
    }
    // Asked first: what other entries are depends on it.
    const unsigned version = reinterpret_cast<unsigned (*)()>(table[version_at])();
    if (version >> 24U != 1 && version >> 24U != 2) {
        PyErr_Format(
            PyExc_ImportError,
            "This NumPy has version %u of its binary interface, and this module knows 1 and 2. Install NumPy 1.23 "
            "to 2.x, or a later totograph.",
            version >> 24U);
        return false;
    }
    const auto dtype_of_number = reinterpret_cast<PyObject* (*)(int)>(table[dtype_of_number_at]);
    numpy.array_type = static_cast<PyTypeObject*>(table[array_type_at]);
    numpy.new_from_dtype = reinterpret_cast<decltype(numpy.new_from_dtype)>(table[new_from_dtype_at]);
    numpy.float32 = dtype_of_number(number_of_float32);
    if (numpy.float32 == nullptr || !is_as_expected()) {
        if (PyErr_Occurred() == nullptr) {
            PyErr_SetString(
                PyExc_ImportError,
                "The arrays of this NumPy are laid out otherwise than those of NumPy 1.23 to 2.x. Install a "
                "NumPy of these versions, or a later totograph.");
        }
        return false;
    }
    return true;
}

}  // namespace totograph_python
