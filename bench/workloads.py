# SPDX-License-Identifier: Apache-2.0
"""The workloads of bench/forecast.cpp, and of bench/cuda with `on_device`, which take more samples; `context_2048` is
one of bench/cuda alone."""

# name: variates, context, horizon, samples
WORKLOADS = {
    "one_patch": (1, 512, 64, 0),
    "context_2048": (1, 2048, 64, 0),
    "long_mean": (1, 4096, 768, 0),
    "one_patch_samples": (1, 512, 64, 128),
    "readme": (7, 4096, 336, 16),
    "dashboard": (8, 2048, 96, 16),
}
DEVICE_SAMPLES = {"readme": 256, "dashboard": 256}


def sizes(name, on_device):
    """Variates, context, horizon, samples."""
    variates, context, horizon, samples = WORKLOADS[name]
    return variates, context, horizon, DEVICE_SAMPLES.get(name, samples) if on_device else samples


# Of bench/toto2.cpp.
TOTO2_WORKLOADS = "small_4m,small_22m,small_313m,batch_4m,batch_22m,readme_22m,block_decode_22m"
