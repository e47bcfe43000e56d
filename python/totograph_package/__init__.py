# SPDX-License-Identifier: Apache-2.0
"""Compiles packages: a model for some sizes of requests, as a shared library (docs/packages.md). Needs a C++ compiler,
Eigen and nlohmann's JSON, and nothing but Python's own library."""

from .buckets import LADDERS, Bucket, ladder
from .build import Recipe, build
from .models import Model, read_model

__all__ = ["LADDERS", "Bucket", "Model", "Recipe", "build", "ladder", "read_model"]
