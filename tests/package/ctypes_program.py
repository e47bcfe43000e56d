# SPDX-License-Identifier: Apache-2.0
"""A program in Python forecasts with a package through ctypes, with nothing but Python's own library.

    ctypes_program.py <package> <checkpoint> <abi.txt>
"""
import ctypes as c
import math
import sys

package, checkpoint, abi = sys.argv[1:]


class Sized(c.Structure):
    """A structure that knows its size, which is its first field."""

    def __init__(self, **fields):
        super().__init__(size=c.sizeof(type(self)), **fields)


class totograph_error(Sized):
    _fields_ = [("size", c.c_uint64), ("status", c.c_int32), ("sentence", c.c_char * 2036)]


class totograph_bucket(Sized):
    _fields_ = [("size", c.c_uint64)] + [
        (name, c.c_int64) for name in ("batch", "variates", "context", "horizon", "samples", "exogenous")
    ]


class totograph_model_facts(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("name", c.c_char_p),
        ("buckets", c.c_uint64),
        ("patch_size", c.c_int64),
        ("levels", c.POINTER(c.c_double)),
        ("level_count", c.c_uint64),
        ("takes_future_gaps", c.c_int32),
        ("takes_groups_by_step", c.c_int32),
    ]


class totograph_service_options(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("mode", c.c_char_p),
        ("threads", c.c_int32),
        ("device", c.c_int32),
        ("only", c.POINTER(totograph_bucket)),
    ]


class totograph_series(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("steps", c.c_int64),
        ("values", c.POINTER(c.c_float)),
        ("values_strides", c.c_int64 * 3),
        ("observed", c.POINTER(c.c_uint8)),
        ("observed_strides", c.c_int64 * 3),
        ("groups", c.POINTER(c.c_int32)),
        ("exogenous", c.c_int64),
        ("future_exogenous", c.POINTER(c.c_float)),
        ("future_observed", c.POINTER(c.c_uint8)),
        ("future_steps", c.c_int64),
        ("first_series", c.c_uint32),
        ("nan_is_gap", c.c_int32),
    ]


class totograph_request(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("horizon", c.c_int64),
        ("samples", c.c_int64),
        ("seed", c.c_uint64),
        ("first_sample", c.c_uint32),
        ("refuse_long_context", c.c_int32),
        ("extend", c.c_int32),
        ("reserved", c.c_int32),
    ]


class totograph_forecast_facts(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("horizon", c.c_int64),
        ("samples", c.c_int64),
        ("context", c.c_int64),
        ("not_finite", c.c_int64),
        ("values", c.POINTER(c.c_float)),
        ("levels", c.POINTER(c.c_double)),
        ("level_count", c.c_uint64),
    ]


class totograph_device_forecast(Sized):
    _fields_ = [
        ("size", c.c_uint64),
        ("batch", c.c_int64),
        ("variates", c.c_int64),
        ("horizon", c.c_int64),
        ("value_count", c.c_int64),
        ("values", c.POINTER(c.c_float)),
        ("not_finite", c.POINTER(c.c_uint32)),
    ]


def check_layout():
    lines = [line.split() for line in open(abi)]
    assert len(lines) > 50
    for name, number in lines:
        structure, _, member = name.partition(".")
        layout = globals()[structure]
        found = getattr(layout, member).offset if member else c.sizeof(layout)
        assert found == int(number), f"{name}: {found}"


library = c.CDLL(package)


def call(name, *arguments):
    """The sentence of what went wrong, or nothing."""
    error = totograph_error()
    status = getattr(library, f"totograph_{name}")(*arguments, c.byref(error))
    assert status == error.status or status == 0, (status, error.status)
    assert (status == 0) == (error.sentence == b""), error.sentence
    return error.sentence.decode()


def opened():
    model, service = c.c_void_p(), c.c_void_p()
    assert call("model_open", checkpoint.encode(), c.byref(model)) == ""
    facts, bucket = totograph_model_facts(), totograph_bucket()
    assert call("model_describe", model, c.byref(facts)) == ""
    assert facts.patch_size == 16 and not facts.levels and facts.level_count == 0
    assert call("model_bucket", model, c.c_uint64(facts.buckets - 1), c.byref(bucket)) == ""
    assert (bucket.variates, bucket.context, bucket.horizon) == (3, 80, 32)
    options = totograph_service_options(threads=1)
    assert call("service_create", model, c.byref(options), c.byref(service)) == ""
    library.totograph_model_close(model)
    return service


def forecast(service, steps, horizon):
    """The quantiles of a sine, by level."""
    values = (c.c_float * steps)(*(math.sin(0.4 * i) for i in range(steps)))
    series = totograph_series(batch=1, variates=1, steps=steps, values=values, nan_is_gap=1)
    request, made = totograph_request(horizon=horizon, seed=7), c.c_void_p()
    said = call("service_forecast", service, c.byref(series), c.byref(request), c.byref(made))
    if said:
        return said
    facts, levels, quantiles = totograph_forecast_facts(), (c.c_double * 2)(0.1, 0.9), (c.c_float * (2 * horizon))()
    assert call("forecast_describe", made, c.byref(facts)) == ""
    assert (facts.variates, facts.horizon, facts.samples, facts.not_finite) == (1, horizon, 8, 0)
    assert call("forecast_quantiles", made, levels, c.c_uint64(2), quantiles, None) == ""
    # By the values of the samples themselves, [horizon, samples]: of 8, the level 0.1 lies 0.7 of the way from the least.
    samples = [sorted(facts.values[8 * i : 8 * i + 8]) for i in range(horizon)]
    library.totograph_forecast_release(made)
    for i, (least, second, *_) in enumerate(samples):
        assert abs(quantiles[i] - (least + 0.7 * (second - least))) < 1e-5, (i, quantiles[i], least, second)
    return [list(quantiles[level * horizon : (level + 1) * horizon]) for level in range(2)]


check_layout()
for name in ("model_close", "service_destroy", "forecast_release", "text_free"):
    getattr(library, f"totograph_{name}").argtypes = [c.c_void_p]
    getattr(library, f"totograph_{name}").restype = None
missing = c.c_void_p()
assert "no_such_folder" in call("model_open", b"no_such_folder", c.byref(missing)) and not missing
service = opened()
low, high = forecast(service, 48, 20)
assert all(a <= b for a, b in zip(low, high)) and forecast(service, 48, 20) == [low, high]
assert "1000" in forecast(service, 48, 1000)
text = c.c_char_p()
assert call("service_metrics", service, b"prometheus", c.byref(text)) == "" and b"totograph_" in text.value
library.totograph_text_free(c.cast(text, c.c_void_p))
library.totograph_service_destroy(service)
