# SPDX-License-Identifier: Apache-2.0
# Short names for what CMake and CTest do. JOBS=<n> sets how many processes run at once.
JOBS ?= $(shell nproc)
SETUP := tools/install_dependencies.sh

.PHONY: help demo test release package wheel sanitize format docs pictures clean

help:
	@echo "make demo       forecast the bundled data (installs what is missing, builds, runs)"
	@echo "make test       build everything and run the whole test suite (installs what is missing)"
	@echo "make release    build the examples and benchmarks at full speed"
	@echo "make package    build Debian packages of the programs, for any x86-64, and of the library"
	@echo "make wheel      build the Python package, with models compiled, in a quarter of an hour (PACKAGES=demo: one, sooner)"
	@echo "make sanitize   run the quick tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make format     format the C++ files as .clang-format says"
	@echo "make docs       write the API documentation to build/docs/html"
	@echo "make pictures   draw the pictures of the documents again, from the code"
	@echo "make clean      remove build/"

# With the bundled model alone, and at -O2, which compile in a part of the time that all models and -O3 take.
demo:
	@$(SETUP) build
	cmake --preset release -B build/demo -DTOTOGRAPH_PROGRAM_MODELS=demo -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG"
	cmake --build build/demo --target forecast --parallel $(JOBS)
	build/demo/examples/forecast examples/data/climate.csv --holdout --horizon 24
	@echo
	build/demo/examples/forecast examples/data/machine_metrics.csv --min 0 --targets cpu_user_percent,load_1m,page_faults_per_s

test:
	@$(SETUP) build test python
	cmake --preset dev
	cmake --build --preset dev --parallel $(JOBS)
	ctest --preset dev --parallel $(JOBS)

release:
	@$(SETUP) build
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

package:
	@$(SETUP) build package
	cmake --preset package
	cmake --build --preset package --parallel $(JOBS)
	cpack --config build/package/CPackConfig.cmake -B build/package

# What is compiled into the wheel; empty: nothing, and then it compiles when it is first used.
PACKAGES ?= all
wheel:
	@$(SETUP) build python
	TOTOGRAPH_WHEEL_PACKAGES="$(PACKAGES)" python3 -m pip wheel --no-deps --wheel-dir build/wheels ./python

sanitize:
	@$(SETUP) build test
	cmake --preset sanitize
	cmake --build --preset sanitize --target tests_quick --parallel $(JOBS)
	ctest --preset sanitize --label-regex '^quick$$' --parallel $(JOBS)

format:
	@$(SETUP) build test format
	cmake --preset dev
	cmake --build --preset dev --target format

docs:
	@$(SETUP) build test docs
	cmake --preset dev
	cmake --build --preset dev --target docs

pictures:
	@$(SETUP) build docs
	cmake --preset release
	cmake --build --preset release --target pictures

clean:
	rm -rf build
