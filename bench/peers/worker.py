# SPDX-License-Identifier: Apache-2.0
"""One peer in one precision on one workload, in a process of its own: compare_peers.py starts and asks it.

Reads lines `time N`, and answers with one JSON object a line: first what preparing took and how
far the forecast is from the shipped one, then for each `time N` the milliseconds of N forecasts.
"""
import argparse
import contextlib
import json
import os
import sys
import time
import warnings

warnings.filterwarnings("ignore")
sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import torch
import torch._dynamo
from reference import full_size_model
from toto.data.util.dataset import MaskedTimeseries
from toto.inference.forecaster import TotoForecaster
from workloads import sizes

import fixed_cache
from exported import aot_inductor, onnx_runtime


class Setting:
    """What all peers share: the model, one series, its precision."""

    def __init__(self, arguments):
        self.device, self.precision, self.threads = arguments.device, arguments.precision, arguments.threads
        self.sizes = sizes(arguments.workload, arguments.device == "cuda")
        torch.set_num_threads(arguments.threads)
        torch.manual_seed(1)
        torch.set_float32_matmul_precision("highest" if self.precision == "f32" else "high")
        self.model = full_size_model().to(self.device)
        for parameter in self.model.parameters():
            parameter.requires_grad_(False)
        variates, context, _, _ = self.sizes
        self.series = self.on_host(torch.randn(1, variates, context, device=self.device).cumsum(-1))

    def rounding(self):
        if self.precision != "bf16":
            return contextlib.nullcontext()
        return torch.autocast(self.device, dtype=torch.bfloat16)

    def on_host(self, tensor):
        """A copy in the host's memory, page-locked where there is a device, which then copies beside what follows."""
        return tensor.cpu().pin_memory() if self.device == "cuda" else tensor.clone()

    def shipped(self, samples):
        """A call of the unpatched implementation."""
        variates, _, horizon, _ = self.sizes
        series = self.series.to(self.device)
        ones = torch.ones_like(series, dtype=torch.bool)
        inputs = MaskedTimeseries(series, ones, torch.zeros_like(series), torch.zeros_like(series),
                                  torch.full((1, variates), 60, device=self.device))
        forecaster = TotoForecaster(self.model)

        def call():
            series.copy_(self.series, non_blocking=True)
            result = forecaster.forecast(inputs, prediction_length=horizon, num_samples=samples or None,
                                         samples_per_batch=samples or 1)
            return result.mean.cpu()

        return call

    def store_half(self):
        """Weights of products are stored as bf16, which autocast would make of them at each call."""
        if self.precision == "bf16":
            for module in self.model.modules():
                if isinstance(module, torch.nn.Linear):
                    module.to(torch.bfloat16)

    def fixed(self, samples):
        slots = fixed_cache.patch(self.model)
        variates, context, horizon, _ = self.sizes
        return fixed_cache.FixedForecast(self.model, slots, (variates, context, horizon, samples), self.device,
                                         torch.bfloat16 if self.precision == "bf16" else torch.float32)


def fixed_calls(setting, samples, mode, captured):
    """A whole forecast with the fixed cache: `mode` of torch.compile or None, `captured` into one CUDA graph by hand."""
    whole = setting.fixed(samples)
    start, step = whole.start, whole.step
    result = setting.on_host(whole.forecast())
    if mode is not None:
        options = {} if mode == "default" else {"mode": mode}
        start, step = (torch.compile(call, fullgraph=True, dynamic=False, **options) for call in (start, step))

    def run():
        whole.series.copy_(setting.series, non_blocking=True)
        torch.compiler.cudagraph_mark_step_begin()
        start()
        for _ in range(whole.patches - 1):
            torch.compiler.cudagraph_mark_step_begin()
            step()
        result.copy_(whole.forecast(), non_blocking=True)

    if captured:
        if mode is None:
            run = fixed_cache.Filled.around(run)
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                run()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run()
        replay = graph.replay
    else:
        replay = run

    def call():
        replay()
        return result

    return call


# name: what is done, by setting and number of samples
PEERS = {
    "eager": lambda s, n: s.shipped(n),
    "compile": lambda s, n: shipped_compiled(s, n, None),
    "compile reduce-overhead": lambda s, n: shipped_compiled(s, n, "reduce-overhead"),
    "compile max-autotune": lambda s, n: shipped_compiled(s, n, "max-autotune"),
    "fixed": lambda s, n: fixed_calls(s, n, None, False),
    "fixed, CUDA graph": lambda s, n: fixed_calls(s, n, None, True),
    "fixed, compile": lambda s, n: fixed_calls(s, n, "default", False),
    "fixed, compile, CUDA graph": lambda s, n: fixed_calls(s, n, "default", True),
    "fixed, reduce-overhead": lambda s, n: fixed_calls(s, n, "reduce-overhead", False),
    "fixed, max-autotune": lambda s, n: fixed_calls(s, n, "max-autotune", False),
    "fixed, max-autotune, CUDA graph": lambda s, n: fixed_calls(s, n, "max-autotune-no-cudagraphs", True),
    "AOTInductor": aot_inductor,
    "ONNX Runtime": onnx_runtime,
    "TensorRT": lambda s, n: onnx_runtime(s, n, ["TensorrtExecutionProvider"]),
}


def shipped_compiled(setting, samples, mode):
    setting.model.compile(mode=mode)
    return setting.shipped(samples)


def counts():
    """Graphs, breaks and recompilations since the process began."""
    counters = torch._dynamo.utils.counters
    again = [metric for metric in torch._dynamo.utils.get_compilation_metrics()
             if "/" in str(metric.compile_id) and str(metric.compile_id).split("/")[1].split("_")[0] != "0"]
    return {"graphs": counters["stats"].get("unique_graphs", 0), "breaks": sum(counters["graph_break"].values()),
            "recompiles": len(again)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", choices=PEERS, required=True)
    parser.add_argument("--workload", required=True)
    parser.add_argument("--precision", choices=["f32", "tf32", "bf16"], default="f32")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what compilers print goes elsewhere

    setting = Setting(arguments)
    samples = setting.sizes[3]
    synchronize = torch.cuda.synchronize if arguments.device == "cuda" else lambda: None
    with torch.no_grad(), setting.rounding():
        shipped = arguments.peer == "eager" or arguments.peer.startswith("compile")
        row = {}
        if not shipped:
            expected = setting.shipped(0)()
            setting.store_half()
        start = time.perf_counter()
        call = PEERS[arguments.peer](setting, samples)
        first = call()
        synchronize()
        first = first.clone()  # the next call overwrites it
        row["first_s"] = time.perf_counter() - start
        for _ in range(2):
            call()
        synchronize()
        row |= counts()
        if not shipped and samples == 0:
            row["difference"] = ((first - expected).abs().max() / expected.abs().max()).item()
        print(json.dumps(row), file=answers)
        for line in sys.stdin:
            number = line.split()[1]
            times = []
            for _ in range(int(number)):
                start = time.perf_counter()
                call()
                synchronize()
                times.append((time.perf_counter() - start) * 1e3)
            print(json.dumps({"times": times}), file=answers)
            if arguments.device == "cuda":
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
