# SPDX-License-Identifier: Apache-2.0
"""Peers that run exported graphs: prefill and step, with the cache as inputs and outputs; draws are PyTorch's own."""
import os
import tempfile

import torch

from fixed_cache import PATCH


class Exported:
    """A whole forecast over two functions of tensors: `prefill` and, with `writes_cache`, a `step` that writes in place."""

    def __init__(self, setting, whole, prefill, step, writes_cache):
        self.setting, self.whole, self.prefill, self.step, self.writes_cache = setting, whole, prefill, step, writes_cache

    def __call__(self):
        whole = self.whole
        whole.series.copy_(self.setting.series, non_blocking=True)
        # FixedForecast's own loop, with the exported functions in place of its modules.
        whole.prefill.forward = self.prefill
        whole.decode.forward = self.step if self.writes_cache else self.step_and_write
        whole.start()
        for _ in range(whole.patches - 1):
            whole.step()
        return whole.forecast().cpu()

    def step_and_write(self, history, observed, keys, values, position):
        *result, key, value = self.step(history, observed, keys, values, position)
        keys.index_copy_(3, position, key)
        values.index_copy_(3, position, value)
        return result


def examples(whole):
    """The arguments of prefill and of step, of the sizes that they will have."""
    context = whole.sizes[1]
    prefill = (whole.series.clone(), whole.observed[..., :context].clone())
    step = (whole.history.clone(), whole.observed.clone(), whole.keys.clone(), whole.values.clone(),
            torch.full_like(whole.position, context // PATCH))
    return prefill, step


def aot_inductor(setting, samples):
    """Both graphs compiled ahead of time into packages, and loaded."""
    whole = setting.fixed(samples)
    folder = tempfile.mkdtemp()

    def compiled(module, arguments, name):
        program = torch.export.export(module, arguments, strict=False)
        path = os.path.join(folder, name + ".pt2")
        return torch._inductor.aoti_load_package(torch._inductor.aoti_compile_and_package(program, package_path=path))

    prefill, step = examples(whole)
    return Exported(setting, whole, compiled(whole.prefill, prefill, "prefill"),
                    compiled(whole.decode, step, "step") if whole.patches > 1 else None, True)


def onnx_runtime(setting, samples, providers=None):
    """Both graphs exported to ONNX, with inputs and outputs bound to PyTorch's memory. The step returns its own keys."""
    import onnxruntime

    if setting.precision == "bf16":
        raise NotImplementedError("ONNX Runtime's operators for bf16 do not cover this graph; it runs in f32 and tf32.")
    if providers is None:
        providers = ["CUDAExecutionProvider" if setting.device == "cuda" else "CPUExecutionProvider"]
    missing = set(providers) - set(onnxruntime.get_available_providers())
    if missing:
        raise NotImplementedError(f"this onnxruntime has no {', '.join(missing)}.")
    if "CUDAExecutionProvider" in providers:
        providers = [("CUDAExecutionProvider", {"use_tf32": int(setting.precision == "tf32")})]
    whole = setting.fixed(samples)
    whole.decode.in_place = False
    folder = tempfile.mkdtemp()
    kinds = {torch.float32: "float32", torch.int64: "int64"}

    def session(module, arguments, name):
        path = os.path.join(folder, name + ".onnx")
        inputs = [f"in{i}" for i in range(len(arguments))]
        results = module(*arguments)
        outputs = [f"out{i}" for i in range(len(results))]
        torch.onnx.export(module, arguments, path, input_names=inputs, output_names=outputs, opset_version=18,
                          dynamo=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = setting.threads
        loaded = onnxruntime.InferenceSession(path, options, providers=providers)
        used = {each.name for each in loaded.get_inputs()}  # what the graph does not read is no input of it
        results = [torch.empty_like(result).contiguous() for result in results]

        def bind(put, name, tensor):
            put(name, setting.device, 0, kinds[tensor.dtype], tuple(tensor.shape), tensor.data_ptr())

        def call(*arguments):
            arguments = [argument.contiguous() for argument in arguments]
            binding = loaded.io_binding()
            for name, argument in zip(inputs, arguments):
                if name in used:
                    bind(binding.bind_input, name, argument)
            for name, result in zip(outputs, results):
                bind(binding.bind_output, name, result)
            if setting.device == "cuda":
                torch.cuda.synchronize()
            loaded.run_with_iobinding(binding)
            return results

        return call

    prefill, step = examples(whole)
    return Exported(setting, whole, session(whole.prefill, prefill, "prefill"),
                    session(whole.decode, step, "step") if whole.patches > 1 else None, False)
