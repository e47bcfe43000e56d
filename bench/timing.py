# SPDX-License-Identifier: Apache-2.0
"""How the scripts that time PyTorch do it."""
import statistics
import time

import torch


def timed(call, repeats, device, warm_up=1):
    """Milliseconds of `call`, which the device has ended: the median, least and most of `repeats`, and the first."""
    times = []
    for _ in range(repeats + warm_up):
        start = time.perf_counter()
        call()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e3)
    kept = times[warm_up:]
    return {"median_ms": round(statistics.median(kept), 3), "min_ms": round(min(kept), 3),
            "max_ms": round(max(kept), 3), "first_ms": round(times[0], 3)}
