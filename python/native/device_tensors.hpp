// SPDX-License-Identifier: Apache-2.0
// Memory of a device, handed to other libraries and taken from them by DLPack.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "arrays.hpp"

namespace totograph_python {

// What a capsule named "dltensor" holds, with who frees it.
struct DlManagedTensor {
    DlTensor tensor;
    void* owner;
    void (*free)(DlManagedTensor*);
};

constexpr const char* dl_capsule = "dltensor";

struct DeviceTensor {
    DlManagedTensor managed;
    std::array<std::int64_t, 4> shape;
};

// Whether Python ends: a thread that asks for the interpreter's lock then would not come back.
inline std::atomic<bool> python_ends{false};

// keep_what_is_lent(): at the end of Python.
inline PyObject* keep_what_is_lent(PyObject* /*module*/, PyObject* /*arguments*/) {
    python_ends = true;
    return Ref::to(Py_None).release();
}

// A library that took the tensor calls this on any thread, with or without the interpreter's lock.
inline void free_device_tensor(DlManagedTensor* managed) {
    const std::unique_ptr<DeviceTensor> whole(reinterpret_cast<DeviceTensor*>(managed));
    if (!python_ends) {
        const PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(static_cast<PyObject*>(managed->owner));
        PyGILState_Release(state);
    }
}

// Whoever takes the tensor renames the capsule.
inline void free_capsule(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, dl_capsule) != 0) {
        auto* const managed = static_cast<DlManagedTensor*>(PyCapsule_GetPointer(capsule, dl_capsule));
        managed->free(managed);
    }
}

// device_tensor(address, shape, device, owner): a capsule of DLPack, of float32 in row-major order on a CUDA device.
inline PyObject* device_tensor(PyObject* /*module*/, PyObject* arguments) {
    unsigned long long address = 0;
    PyObject* shape = nullptr;
    int device = 0;
    PyObject* owner = nullptr;
    if (PyArg_ParseTuple(arguments, "KO!iO", &address, &PyTuple_Type, &shape, &device, &owner) == 0) {
        return nullptr;
    }
    auto made = std::make_unique<DeviceTensor>();
    const Py_ssize_t rank = PyTuple_Size(shape);
    if (rank > static_cast<Py_ssize_t>(made->shape.size())) {
        PyErr_Format(PyExc_ValueError, "A result has at most 4 axes; found %R.", shape);
        return nullptr;
    }
    for (Py_ssize_t axis = 0; axis < rank; ++axis) {
        made->shape[static_cast<std::size_t>(axis)] = PyLong_AsLongLong(PyTuple_GetItem(shape, axis));
    }
    if (PyErr_Occurred() != nullptr) {
        return nullptr;
    }
    made->managed = {.tensor = {.data = reinterpret_cast<void*>(address),
                                .device_kind = dl_cuda,
                                .device = device,
                                .rank = static_cast<std::int32_t>(rank),
                                .type_code = dl_float,
                                .type_bits = 32,
                                .type_lanes = 1,
                                .shape = made->shape.data(),
                                .strides = nullptr,
                                .byte_offset = 0},
                     .owner = owner,
                     .free = free_device_tensor};
    PyObject* const capsule = PyCapsule_New(&made->managed, dl_capsule, free_capsule);
    if (capsule != nullptr) {
        Py_INCREF(owner);
        (void)made.release();  // the capsule's
    }
    return capsule;
}

// Whether it is of float32, its address, shape, and strides in elements.
inline PyObject* layout_of_tensor(const DlTensor& tensor) {
    const Ref shape(PyTuple_New(tensor.rank));
    const Ref strides(PyTuple_New(tensor.rank));
    std::int64_t row_major = 1;
    for (std::int32_t axis = tensor.rank - 1; shape && strides && axis >= 0; --axis) {
        const std::int64_t stride = tensor.strides != nullptr ? tensor.strides[axis] : row_major;
        PyTuple_SetItem(shape.get(), axis, PyLong_FromLongLong(tensor.shape[axis]));
        PyTuple_SetItem(strides.get(), axis, PyLong_FromLongLong(stride));
        row_major *= tensor.shape[axis];
    }
    if (!shape || !strides) {
        return nullptr;
    }
    const bool is_float32 = tensor.type_code == dl_float && tensor.type_bits == 32 && tensor.type_lanes == 1;
    return Py_BuildValue("(OKOO)", is_float32 ? Py_True : Py_False,
                         static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(tensor.data)) +
                             static_cast<unsigned long long>(tensor.byte_offset),
                         shape.get(), strides.get());
}

// layout_of(capsule) of a tensor that DLPack holds.
inline PyObject* layout_of(PyObject* /*module*/, PyObject* capsule) {
    const auto* const tensor = static_cast<const DlTensor*>(PyCapsule_GetPointer(capsule, dl_capsule));
    return tensor == nullptr ? nullptr : layout_of_tensor(*tensor);
}

// DLPack's functions of a library for its tensors, as far as they are called here (DLPackExchangeAPI of DLPack 1.3).
struct DlExchange {
    std::uint32_t major;
    std::uint32_t minor;
    void* of_earlier_version;
    void* others[3];
    int (*view)(void* tensor, DlTensor* view);  // null: none
    int (*current_stream)(std::int32_t kind, std::int32_t device, void** stream);
};

// view_of(exchange, tensor): (kind and number of the device, the library's current stream there, layout), or None where
// the library cannot say.
inline PyObject* view_of(PyObject* /*module*/, PyObject* arguments) {
    PyObject* capsule = nullptr;
    PyObject* tensor = nullptr;
    if (PyArg_ParseTuple(arguments, "OO", &capsule, &tensor) == 0) {
        return nullptr;
    }
    const auto* const exchange = static_cast<const DlExchange*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    if (exchange == nullptr) {
        return nullptr;
    }
    if (exchange->major != 1 || exchange->view == nullptr) {
        return Ref::to(Py_None).release();
    }
    DlTensor view{};
    void* stream = nullptr;
    if (exchange->view(tensor, &view) != 0 ||
        (view.device_kind != dl_host && exchange->current_stream(view.device_kind, view.device, &stream) != 0)) {
        if (PyErr_Occurred() == nullptr) {
            PyErr_SetString(PyExc_BufferError, "its library gives no view of it");
        }
        return nullptr;
    }
    const Ref layout(layout_of_tensor(view));
    return !layout
               ? nullptr
               : Py_BuildValue("(iiKO)", static_cast<int>(view.device_kind), static_cast<int>(view.device),
                               static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(stream)), layout.get());
}

}  // namespace totograph_python
