// SPDX-License-Identifier: Apache-2.0
// Arrays in and out, by DLPack: NumPy has it for its own ones, too, and no version of NumPy has to be compiled for.
#pragma once

#include <array>
#include <cstdint>

#include "references.hpp"

namespace totograph_python {

// The layout that the DLPack standard gives to what a capsule named "dltensor" holds.
struct DlTensor {
    void* data;
    std::int32_t device_kind;
    std::int32_t device;
    std::int32_t rank;
    std::uint8_t type_code;
    std::uint8_t type_bits;
    std::uint16_t type_lanes;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements; null: row-major
    std::uint64_t byte_offset;
};
constexpr std::uint8_t dl_float = 2;

inline const DlTensor* tensor_of(const Ref& capsule) {
    return static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
}

// A series as C reads it, [batch, variates, steps], and what keeps its memory. A capsule that nobody consumed frees
// what it holds with itself.
struct Series {
    Ref owner;
    Ref capsule;
    const float* values = nullptr;
    int rank = 0;
    std::array<std::int64_t, 3> shape{1, 1, 1};
    std::array<std::int64_t, 3> strides{0, 0, 0};
};

enum class Read { done, other, failed };  // `other`: of another type or layout, which Python converts

inline void raise_axes(const DlTensor& tensor) {
    const Ref shape(PyTuple_New(tensor.rank));
    for (std::int32_t i = 0; shape && i < tensor.rank; ++i) {
        PyTuple_SetItem(shape.get(), i, PyLong_FromLongLong(tensor.shape[i]));
    }
    if (shape) {
        PyErr_Format(
            PyExc_ValueError,
            "A series has the axes [steps], [variates, steps] or [batch, variates, steps]; found the shape %R.",
            shape.get());
    }
}

inline Read read_capsule(Series& series) {
    const DlTensor* const tensor = tensor_of(series.capsule);
    if (tensor == nullptr) {
        return Read::failed;
    }
    if (tensor->type_code != dl_float || tensor->type_bits != 32 || tensor->type_lanes != 1) {
        return Read::other;
    }
    if (tensor->rank < 1 || tensor->rank > 3) {
        raise_axes(*tensor);
        return Read::failed;
    }
    series.rank = tensor->rank;
    std::int64_t row_major = 1;
    bool any = false;
    for (int axis = 2, from = tensor->rank - 1; from >= 0; --axis, --from) {
        const auto to = static_cast<std::size_t>(axis);
        series.shape[to] = tensor->shape[from];
        series.strides[to] = tensor->strides != nullptr ? tensor->strides[from] : row_major;
        row_major *= tensor->shape[from];
        any = any || series.strides[to] != 0;
    }
    series.values = reinterpret_cast<const float*>(static_cast<const char*>(tensor->data) + tensor->byte_offset);
    return any ? Read::done : Read::other;  // three zeros mean row-major to C
}

inline bool is_on_host(PyObject* tensor) {
    const Ref method(PyObject_GetAttr(tensor, known.dlpack_device_name));
    const Ref device = method ? call(method.get()) : Ref();
    const Ref kind(device ? PySequence_GetItem(device.get(), 0) : nullptr);
    const long number = kind ? PyLong_AsLong(kind.get()) : -1;
    if (PyErr_Occurred() != nullptr) {
        return false;
    }
    if (number == 1 || number == 3 || number == 11) {  // the host's memory, and what is pinned for CUDA or ROCm
        return true;
    }
    PyErr_SetString(PyExc_ValueError,
                    "The series lies in the memory of a device, and this package runs on the processor. Copy it to the "
                    "host, as PyTorch's .cpu() does.");
    return false;
}

// What a tensor's library says of memory that it does not hand out becomes a sentence.
inline void raise_unreadable() {
    const Ref error = taken_error();
    const Ref reason(error ? PyObject_Str(error.get()) : nullptr);
    if (!reason || PyUnicode_GetLength(reason.get()) == 0) {
        PyErr_Clear();  // of a value that has no text
        PyErr_SetString(PyExc_ValueError, "The series cannot be read by DLPack. Make it float32, without gradients.");
        return;
    }
    PyErr_Format(PyExc_ValueError, "The series cannot be read by DLPack: %U. Make it float32, without gradients.",
                 reason.get());
}

inline Read read_tensor(PyObject* given, PyObject* method, Series& series) {
    if (!is_on_host(given)) {
        return Read::failed;
    }
    series.capsule = call(method);
    if (!series.capsule) {
        if (PyErr_ExceptionMatches(PyExc_BufferError) != 0 || PyErr_ExceptionMatches(PyExc_RuntimeError) != 0 ||
            PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
            raise_unreadable();
        }
        return Read::failed;
    }
    return read_capsule(series);
}

inline Read read_array(PyObject* given, Series& series) {
    series.capsule = call(known.array_dlpack, given);
    if (!series.capsule) {  // it is read-only, say, or in another order of bytes
        PyErr_Clear();
        return Read::other;
    }
    return read_capsule(series);
}

// Reads float32 where it lies, and has Python convert all else. `names`: of the variates, where they have any.
inline bool read_series(PyObject* given, Series& series, Ref& names) {
    Read read = Read::other;
    if (reinterpret_cast<PyObject*>(Py_TYPE(given)) == known.array_type) {
        read = read_array(given, series);
    } else if (const Ref method(PyObject_GetAttr(given, known.dlpack_name)); method) {
        if (PyObject_IsInstance(given, known.array_type) == 0) {
            read = read_tensor(given, method.get(), series);
        }
    } else {
        PyErr_Clear();
    }
    if (read != Read::other) {
        series.owner = Ref::to(given);
        return read == Read::done;
    }
    const Ref pair = call(known.values_of, given);
    if (!pair) {
        return false;
    }
    names = Ref(PySequence_GetItem(pair.get(), 0));
    series.owner = Ref(PySequence_GetItem(pair.get(), 1));
    series.capsule = series.owner ? call(known.array_dlpack, series.owner.get()) : Ref();
    read = series.capsule ? read_capsule(series) : Read::failed;
    if (read == Read::other) {
        PyErr_SetString(PyExc_RuntimeError,
                        "A series was converted to an array that is not of float32 in rows. This is a mistake in "
                        "totograph; please report it, with what the series was.");
    }
    return read == Read::done;
}

// A new array of float32, and where it lies; null: Python's error is set.
struct Result {
    Ref array;
    float* values = nullptr;
};

inline Result make_result(PyObject* shape) {
    Result result;
    result.array = call(known.empty, shape, known.float32);
    const Ref capsule = result.array ? call(known.array_dlpack, result.array.get()) : Ref();
    const DlTensor* const tensor = capsule ? tensor_of(capsule) : nullptr;
    if (tensor != nullptr) {
        result.values = static_cast<float*>(tensor->data);
    }
    return result;
}

}  // namespace totograph_python
