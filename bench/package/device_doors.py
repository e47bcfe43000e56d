#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a forecast on a device takes through a package's C interface, called by ctypes, and through Python, from a series of
PyTorch's that lies on the device, on a stream: in turns. Needs a device and PyTorch.

    PYTHONPATH=build/cuda/python python3 bench/package/device_doors.py models/demo demo.cuda.so
"""
import argparse
import ctypes as c
import statistics
import time

import numpy as np
import torch

import totograph as tg

VARIATES, STEPS, HORIZON = 3, 80, 32


class Series(c.Structure):  # totograph_series
    _fields_ = [("size", c.c_uint64), ("batch", c.c_int64), ("variates", c.c_int64), ("steps", c.c_int64),
                ("values", c.c_void_p), ("strides", c.c_int64 * 3), ("observed", c.c_void_p),
                ("observed_strides", c.c_int64 * 3), ("groups", c.c_void_p), ("exogenous", c.c_int64),
                ("future", c.c_void_p), ("future_observed", c.c_void_p), ("future_steps", c.c_int64),
                ("first_series", c.c_uint32), ("nan_is_gap", c.c_int32)]


class Request(c.Structure):  # totograph_request
    _fields_ = [("size", c.c_uint64), ("horizon", c.c_int64), ("samples", c.c_int64), ("seed", c.c_uint64),
                ("first_sample", c.c_uint32), ("refuse_long_context", c.c_int32), ("extend", c.c_int32),
                ("reserved", c.c_int32)]


class Made(c.Structure):  # totograph_device_forecast
    _fields_ = [("size", c.c_uint64), ("batch", c.c_int64), ("variates", c.c_int64), ("horizon", c.c_int64),
                ("value_count", c.c_int64), ("values", c.c_void_p), ("not_finite", c.c_void_p)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint")
    parser.add_argument("package", help="for CUDA, with a size of 3 variates, 80 steps and a horizon of 32")
    parser.add_argument("--repeats", type=int, default=1500)
    arguments = parser.parse_args()
    model = tg.load(arguments.checkpoint, arguments.package, device="cuda")
    given = torch.from_numpy(np.sin(np.arange(VARIATES * STEPS, dtype=np.float32) * 0.3).reshape(VARIATES, STEPS)).cuda()
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    series = Series(size=c.sizeof(Series), batch=1, variates=VARIATES, steps=STEPS, values=given.data_ptr(),
                    strides=(0, STEPS, 1), nan_is_gap=1)
    request = Request(size=c.sizeof(Request), horizon=HORIZON, samples=-1)
    made = Made(size=c.sizeof(Made))
    function = c.CDLL(arguments.package).totograph_service_forecast_on
    function.argtypes = [c.c_void_p] * 4 + [c.c_uint32] + [c.c_void_p] * 2
    call = (model._service.address, stream.cuda_stream, c.addressof(series), c.addressof(request), 1, c.addressof(made), None)

    def by_c():
        assert function(*call) == 0

    def by_python():
        return model.forecast(given, horizon=HORIZON, samples=0, stream=stream)

    doors = {"C, by ctypes": by_c, "Python": by_python}
    times = {name: [] for name in doors}
    for turn in range(arguments.repeats + 50):
        for name, door in doors.items():
            start = time.perf_counter()
            door()
            called = time.perf_counter()
            stream.synchronize()
            if turn >= 50:
                times[name].append(((time.perf_counter() - start) * 1e6, (called - start) * 1e6))
    for name, found in times.items():
        whole, host = (statistics.median(one[which] for one in found) for which in (0, 1))
        print(f"{name}: {whole:.1f} us, of which the call takes {host:.1f}")


if __name__ == "__main__":
    main()
