// SPDX-License-Identifier: Apache-2.0
// The way from Python to the C interface of a package. It is compiled for CPython's limited interface, so one file
// serves all versions from 3.9 on, but for free-threaded builds, which have no such interface; what is not done at
// every forecast is in Python.
#include "device_tensors.hpp"
#include "service.hpp"

namespace totograph_python {
namespace {

// set_up(forecast_type, values_of, refuse_request)
PyObject* set_up(PyObject* /*module*/, PyObject* arguments) {
    PyObject* type = nullptr;
    if (PyArg_ParseTuple(arguments, "OOO", &type, &known.values_of, &known.refuse_request) == 0) {
        return nullptr;
    }
    for (PyObject* one : {type, known.values_of, known.refuse_request}) {
        Py_INCREF(one);
    }
    known.forecast_type = reinterpret_cast<PyTypeObject*>(type);
    return Ref::to(Py_None).release();
}

PyObject* make_module() {
    static PyMethodDef methods[] = {
        {"set_up", set_up, METH_VARARGS, "set_up(forecast_type, values_of, refuse_request)"},
        {"device_tensor", device_tensor, METH_VARARGS, "device_tensor(address, shape, device, owner)"},
        {"keep_what_is_lent", keep_what_is_lent, METH_NOARGS, "keep_what_is_lent(): at the end of Python."},
        {"layout_of", layout_of, METH_O, "layout_of(capsule)"},
        {"view_of", view_of, METH_VARARGS, "view_of(exchange, tensor)"},
        {nullptr, nullptr, 0, nullptr}};
    static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                     "_native",
                                     "The way to the C interface of a package.",
                                     -1,
                                     methods,
                                     nullptr,
                                     nullptr,
                                     nullptr,
                                     nullptr};
    Ref module(PyModule_Create(&definition));
    known.dlpack_name = PyUnicode_InternFromString("__dlpack__");
    if (!module || PyErr_Occurred() != nullptr || !find_numpy()) {
        return nullptr;
    }
    const struct {
        const char* name;
        PyObject* (*make)();
    } types[] = {{"Library", make_library_type}, {"Service", make_service_type}, {"Forecast", make_forecast_type}};
    for (const auto& type : types) {
        const Ref made(type.make());
        if (!made || PyObject_SetAttrString(module.get(), type.name, made.get()) != 0) {
            return nullptr;
        }
    }
    known.library_type = PyObject_GetAttrString(module.get(), "Library");
    return known.library_type == nullptr ? nullptr : module.release();
}

}  // namespace
}  // namespace totograph_python

PyMODINIT_FUNC PyInit__native() {
    return totograph_python::make_module();
}
