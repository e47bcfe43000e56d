# SPDX-License-Identifier: Apache-2.0
"""What the module's part in C++ does with callers and packages that are not as they should be."""
import ctypes
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from support import CHECKPOINT, PACKAGE, Tensor, waves

import totograph as tg
from totograph import _model, _native

WAITING = os.environ["TOTOGRAPH_TEST_WAITING"]  # tests/package/waiting_package.c


@pytest.fixture
def waiting():
    """Its functions; what waits is let go by another thread of Python, which needs the interpreter's lock for it."""
    functions = ctypes.CDLL(WAITING)
    ended = threading.Event()

    def let_go():
        while not ended.is_set():
            if functions.is_waiting():
                functions.let_go()
            time.sleep(0.001)

    thread = threading.Thread(target=let_go)
    thread.start()
    yield functions
    ended.set()
    thread.join()


def test_other_threads_run_while_a_service_or_a_forecast_ends(waiting):
    service = _native.Service(_native.Library(WAITING), CHECKPOINT, None, 0, 0)
    made = service.forecast(waves(48), None, 8, [0.5], None, 0, False, None)
    del made
    assert waiting.was_let_go()
    del service
    assert waiting.was_let_go()


ENDS = """
import sys, threading, time
import numpy as np
import totograph as tg
model, series = tg.load(*sys.argv[1:], threads=1), np.sin(np.arange(48, dtype=np.float32))
model.forecast(series, horizon=8)
begun = threading.Barrier(5)
def forecast():
    begun.wait()
    while True:
        model.forecast(series, horizon=8)
for _ in range(4):
    threading.Thread(target=forecast, daemon=True).start()
begun.wait()
time.sleep(0.05)
"""


def test_python_ends_while_daemon_threads_forecast():
    for _ in range(3):
        ended = subprocess.run([sys.executable, "-c", ENDS, CHECKPOINT, PACKAGE], timeout=60)
        assert ended.returncode == 0


def test_what_is_converted_to_no_float32_is_a_mistake_of_ours(model):
    try:
        _native.set_up(tg.Forecast, lambda series: (None, np.zeros(48)), _model._refuse_request)
        with pytest.raises(RuntimeError, match="mistake in totograph"):
            model.forecast([1.0] * 48, horizon=8)
    finally:
        _native.set_up(tg.Forecast, _model._values_of, _model._refuse_request)
    assert model.forecast([1.0] * 48, horizon=8).is_finite


class Refusing(Tensor):
    """One whose memory is not handed out, for a reason."""

    def __init__(self, refuse):
        super().__init__(waves(48))
        self.refuse = refuse

    def __dlpack__(self, **options):
        self.refuse()


def refuse(*reason):
    raise BufferError(*reason)


def refuse_without_a_value():  # as extensions may
    ctypes.pythonapi.PyErr_SetNone(ctypes.py_object(BufferError))


def test_memory_that_is_not_handed_out_is_told_with_its_reason_where_there_is_one(model):
    for wrong, says in [(lambda: refuse("it is secret"), "by DLPack: it is secret. Make it float32"),
                        (refuse, "by DLPack. Make it float32"), (refuse_without_a_value, "by DLPack. Make it float32")]:
        for options in ({}, {"observed": np.ones(48, bool)}):  # in C++, and in Python
            with pytest.raises(ValueError, match=says):
                model.forecast(Refusing(wrong), horizon=8, **options)
