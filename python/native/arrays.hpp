// SPDX-License-Identifier: Apache-2.0
// Series in, from NumPy or by DLPack, and arrays of NumPy out.
#pragma once

#include <array>
#include <cstdint>

#include "numpy_arrays.hpp"

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
constexpr std::int32_t dl_host = 1;
constexpr std::int32_t dl_cuda = 2;
constexpr std::int32_t dl_cuda_host = 3;
constexpr std::int32_t dl_rocm_host = 11;

// Whether it lies in the memory of the host, or in such that is pinned for CUDA or ROCm.
inline bool is_on_host(const DlTensor& tensor) {
    return tensor.device_kind == dl_host || tensor.device_kind == dl_cuda_host || tensor.device_kind == dl_rocm_host;
}

inline const DlTensor* tensor_of(const Ref& capsule) {
    return static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
}

// A series as C reads it, [batch, variates, steps], and what keeps its memory: a capsule that nobody consumed frees
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

template <class Extent>
void raise_axes(int rank, const Extent* extents) {
    const Ref shape(PyTuple_New(rank));
    for (int i = 0; shape && i < rank; ++i) {
        PyTuple_SetItem(shape.get(), i, PyLong_FromLongLong(extents[i]));
    }
    if (shape) {
        PyErr_Format(
            PyExc_ValueError,
            "A series has the axes [steps], [variates, steps] or [batch, variates, steps]; found the shape %R.",
            shape.get());
    }
}

// Of float32. `strides` count units of so many bytes; null: row-major.
template <class Extent>
Read read_layout(Series& series, const char* data, int rank, const Extent* shape, const Extent* strides, int unit) {
    if (rank < 1 || rank > 3) {
        raise_axes(rank, shape);
        return Read::failed;
    }
    series.rank = rank;
    std::int64_t row_major = 1;
    bool any = false;
    for (int axis = 2, from = rank - 1; from >= 0; --axis, --from) {
        const auto to = static_cast<std::size_t>(axis);
        const std::int64_t bytes = strides != nullptr ? strides[from] * unit : row_major * 4;
        if (bytes % 4 != 0) {
            return Read::other;
        }
        series.shape[to] = shape[from];
        series.strides[to] = bytes / 4;
        row_major *= shape[from];
        any = any || bytes != 0;
    }
    series.values = reinterpret_cast<const float*>(data);
    // Three zeros mean row-major to C, which says itself what is wrong with an empty one.
    return any || row_major == 0 ? Read::done : Read::other;
}

inline Read read_capsule(Series& series) {
    const DlTensor* const tensor = tensor_of(series.capsule);
    if (tensor == nullptr) {
        return Read::failed;
    }
    if (!is_on_host(*tensor)) {
        PyErr_SetString(PyExc_ValueError,
                        "The series lies in the memory of a device. Copy it to the host, as PyTorch's .cpu() does, or "
                        "name its stream to a package for CUDA (stream=).");
        return Read::failed;
    }
    if (tensor->type_code != dl_float || tensor->type_bits != 32 || tensor->type_lanes != 1) {
        return Read::other;
    }
    return read_layout(series, static_cast<const char*>(tensor->data) + tensor->byte_offset, tensor->rank,
                       tensor->shape, tensor->strides, 4);
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

inline Read read_tensor(PyObject* method, Series& series) {
    series.capsule = call(method);
    if (series.capsule) {
        return read_capsule(series);
    }
    if (PyErr_ExceptionMatches(PyExc_BufferError) != 0 || PyErr_ExceptionMatches(PyExc_RuntimeError) != 0 ||
        PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
        raise_unreadable();
    }
    return Read::failed;
}

inline Read read_array(PyObject* given, Series& series) {
    const ArrayHead& array = head_of(given);
    return array.dtype == numpy.float32 && (array.flags & NumPy::is_aligned) != 0
               ? read_layout(series, array.data, array.rank, array.shape, array.strides, 1)
               : Read::other;
}

// Reads float32 where it lies, and has Python convert all else. `names`: of the variates, where they have any.
inline bool read_series(PyObject* given, Series& series, Ref& names) {
    Read read = Read::other;
    if (Py_TYPE(given) == numpy.array_type) {
        read = read_array(given, series);
    } else if (const Ref method(PyObject_GetAttr(given, known.dlpack_name)); method) {
        const int is_array = PyObject_IsInstance(given, reinterpret_cast<PyObject*>(numpy.array_type));
        if (is_array < 0) {
            return false;
        }
        if (is_array == 0) {
            read = read_tensor(method.get(), series);
        }
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
        PyErr_Clear();
    } else {
        return false;
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
    if (!series.owner) {
        return false;
    }
    read = Py_TYPE(series.owner.get()) == numpy.array_type ? read_array(series.owner.get(), series) : Read::other;
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

inline Result make_result(int rank, const Py_ssize_t* shape) {
    Result result;
    result.array = new_array(rank, shape);
    if (result.array) {
        result.values = reinterpret_cast<float*>(head_of(result.array.get()).data);
    }
    return result;
}

}  // namespace totograph_python
