#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""totograph-package: ladders, sources, the cache and its lock, with a compiler that only notes what it is asked."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from totograph_package import LADDERS, Bucket, cache, compiler, cuda, ladder, plan, read_model  # noqa: E402
from totograph_package.buckets import by_cost, parse, serving  # noqa: E402
from totograph_package.library import find_library  # noqa: E402
from totograph_package.published import PUBLISHED  # noqa: E402
from totograph_package.sources import package_sources  # noqa: E402

DEMO_1, DEMO_2 = ROOT / "models/demo", ROOT / "models/demo_2_0"

# Notes what it is asked for, takes its time, and writes something to the file that it is to write.
FAKE_COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "fake 1.0 ${FAKE_VERSION:-}"; exit; fi
for argument; do
    [ "$argument" = -E ] && echo "${FAKE_HEADERS:-}" && exit
    case "$argument" in *.cpp | *.cu) source=${argument##*/} ;; esac
    [ "${last:-}" = -o ] && target=$argument
    last=$argument
done
echo "${source:-link}" >>"$FAKE_LOG"
case "${source:-link}" in
    "$FAKE_FAILS") printf 'In file included from a\\nb.hpp:3:5: error: no such bucket\\nb.hpp:4: error: another\\n' >&2; exit 1 ;;
esac
[ "$FAKE_FAILS${source:-}" = hangs ] && exec sleep 5
sleep 0.1
echo made >"$target"
"""


class Ladders(unittest.TestCase):
    def test_standard_covers_what_it_promises(self):
        for folder in (DEMO_1, DEMO_2):
            model = read_model(folder)
            buckets = ladder("standard", model)
            samples = 100 if model.is_sampled else 0
            for variates in range(1, 33):
                for context in (1, 512, 513, 2048, 4096):
                    for horizon in (1, 96, 97, 720):
                        request = Bucket(variates=variates, context=context, horizon=horizon, samples=samples)
                        self.assertIsNotNone(serving(buckets, request), request)
            if model.is_sampled:
                self.assertIsNotNone(serving(buckets, Bucket(variates=32, context=4096, horizon=720)))

    def test_larger_ladders_waste_less(self):
        model = read_model(DEMO_2)
        request = Bucket(variates=3, context=600, horizon=200)
        rows = [serving(ladder(name, model), request).rows(model) for name in ("small", "standard", "large")]
        self.assertEqual(rows, sorted(rows, reverse=True))
        self.assertGreater(rows[0], rows[2])

    def test_standard_compiles_within_ten_minutes_on_two_cores(self):
        self.assertLess(plan.seconds(len(ladder("standard", read_model(DEMO_2))), 2), 600)

    def test_plan_tells_the_waste(self):
        text = plan.plan(read_model(DEMO_2), ladder("standard", read_model(DEMO_2)), 2)
        # 7 variates in 8: 1 of 8 rows is padding. 512 and 96 steps are 16 and 3 patches in both.
        self.assertRegex(text, r"7 x  512 ->  96   variates=8 context=512 horizon=96 exogenous=4: 12%")
        self.assertRegex(text, r"estimate.* \d+ s of processor time, \d+ s to compile with 2 jobs, \d+ MB")

    def test_plan_foretells_what_was_measured(self):
        # docs/packages.md: the ladder standard of Toto 2.0 22m, with two jobs; the machine's speed moves by a tenth.
        count = len(ladder("standard", read_model("toto2_22m")))
        self.assertAlmostEqual(plan.processor_seconds(count, 2), 264, delta=26)
        self.assertIn("33 MB", plan.plan(read_model("toto2_22m"), ladder("standard", read_model("toto2_22m")), 2))

    def test_a_file_holds_no_more_buckets_than_memory_has_room_for(self):
        for buckets, jobs, expected in ((40, 2, 2), (40, 1, 2), (105, 2, 5), (3, 8, 3), (1, 1, 1)):
            self.assertEqual(plan.files(buckets, jobs), expected)
        self.assertEqual(plan.files(12, 2, "cuda"), 6)

    def test_a_bucket_that_cannot_be_is_refused(self):
        model = read_model(DEMO_2)
        self.assertEqual(parse("variates=8, context=512 horizon=96", model), Bucket(1, 8, 512, 96))
        for text, says in [("variates=8 steps=1", "is no bucket"), ("", "is no bucket"), ("context=5", "at least 1"),
                           ("context=5 context=6 horizon=1", "each once"), ("context=-5 horizon=1", "is no bucket"),
                           ("context=5 horizon=5 exogenous=1", "exogenous"),
                           ("context=5 horizon=5 samples=8", "forecasts quantiles")]:
            with self.assertRaisesRegex(ValueError, says):
                parse(text, model)


class Models(unittest.TestCase):
    def changed(self, folder, **fields):
        config = json.loads((folder / "config.json").read_text())
        config.update(fields)
        file = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            json.dump({key: value for key, value in config.items() if value != "absent"}, file)
        return file.name

    def test_fields_are_those_of_the_checkpoint(self):
        fields = dict(read_model(DEMO_1).fields)
        self.assertEqual(fields["embed_dim"], "192")
        self.assertEqual(fields["scaler"], "toto1::Scaler::causal_patch")
        self.assertEqual(fields["k_components"], "16")
        self.assertEqual(fields["spacewise_first"], "false")
        # What the published models leave out is what the reference takes for it.
        fields = dict(read_model(self.changed(DEMO_2, d_ff=None, num_groups=None, v_dim="absent", qk_dim=32)).fields)
        self.assertEqual((fields["d_ff"], fields["num_groups"], fields["v_dim"]), ("688", "4", "32"))

    def test_published_models_are_those_of_the_library(self):
        declared = {}
        for family in ("toto1", "toto2"):
            text = (ROOT / f"include/totograph/models/{family}/config.hpp").read_text()
            named = r"^struct (\w+) \{\n    static constexpr Toto[12]Config config\{(.*?)\};"
            defaults = dict(re.findall(r"^    (?:Index|int|double|bool|Scaler|Head) (\w+) = ([\w.:-]+);", text, re.M))
            for name, own in re.findall(named, text, re.M | re.S):
                declared[name] = {**defaults, **dict(re.findall(r"\.(\w+) = ([\w.-]+)", own))}
        self.assertEqual(sorted(declared), sorted(PUBLISHED))
        number = lambda text: text.split("::")[-1] if not re.match(r"[\d.-]", text) else float(text)  # noqa: E731
        for name, fields in declared.items():
            for field, value in read_model(name).fields:
                expected = fields[field]
                if field == "num_groups":  # 0: as many as heads
                    expected = fields["num_heads"]
                self.assertEqual(number(value), number(expected), (name, field))

    def test_what_is_no_configuration_is_refused(self):
        for change, says in [({"num_layers": "six"}, "'num_layers' cannot be"), ({"num_layers": "absent"}, "lacks the"),
                             ({"scaler_cls": "MinMax"}, "known are StdMeanScaler"), ({"patch_size": 0}, "patch_size"),
                             ({"embed_dim": "absent"}, "neither a d_model"),
                             ({"embed_dim": "1}; int x{"}, "cannot be")]:
            with self.assertRaisesRegex(ValueError, says):
                read_model(self.changed(DEMO_1, **change))
        with self.assertRaisesRegex(FileNotFoundError, "config.json"):
            read_model("/no/such/folder")
        for mistyped in (DEMO_2 / "no_such_file", DEMO_2 / "no_such_file.safetensors"):  # beside another's config.json
            with self.assertRaisesRegex(FileNotFoundError, f"'{mistyped}' does not exist"):
                read_model(mistyped)
        self.assertEqual(read_model(DEMO_2 / "model.safetensors"), read_model(DEMO_2))

    def test_each_bucket_is_compiled_once(self):
        model = read_model(DEMO_2)
        buckets = by_cost(ladder("standard", model), model)
        texts = package_sources("p", model, buckets, find_library(), 3)
        self.assertEqual(sorted(texts), ["buckets_1.cpp", "buckets_2.cpp", "model.cpp", "model.hpp", "package.cpp"])
        self.check_instances(buckets, texts, "CompiledBucket compiled_bucket", "model.cpp")

    def test_each_bucket_is_compiled_once_for_a_device(self):
        model = read_model(DEMO_2)
        buckets = by_cost(ladder("standard", model), model)
        nvcc = cuda.CudaCompiler(("nvcc",), "", (), pathlib.Path(), "tf32")
        texts = package_sources("p", model, buckets, find_library(), 3, nvcc)
        self.assertEqual(sorted(texts), ["buckets_1.cu", "buckets_2.cu", "device.cu", "model.cpp", "model.hpp", "package.cpp"])
        self.check_instances(buckets, texts, "CompiledDeviceBucket compiled_device_bucket", "device.cu")
        options = "cuda::ForecasterOptions{.precision = cuda::Precision::tf32}"
        self.assertEqual(sum(text.count(options) for text in texts.values()), 1 + 2 * (len(buckets) - -(-len(buckets) // 3)))
        self.assertIn('package_device[] = "cuda"', texts["package.cpp"])
        # The model itself, which the processor's compiler compiles, computes nothing.
        self.assertIn("describe_model<", texts["model.cpp"])
        self.assertNotIn("template", texts["model.cpp"])

    def check_instances(self, buckets, texts, function, of_model):
        self.assertNotIn("@", "".join(texts.values()))
        instance = rf"^template {function}<.*?(totograph::Bucket\{{[^}}]*\}})"
        apart = [one for name in texts for one in re.findall(instance, texts[name], re.M)]
        left_out = re.findall(instance.replace("^", "^extern ", 1), texts[of_model], re.M)
        self.assertEqual(sorted(apart), sorted(left_out))
        self.assertEqual(len(set(apart)), len(buckets) - -(-len(buckets) // 3))


class Building(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.fake = self.folder / "fake-c++"
        self.fake.write_text(FAKE_COMPILER)
        self.fake.chmod(0o755)
        self.log = self.folder / "log"
        self.cache = self.folder / "cache"
        self.environment = {**os.environ, "TOTOGRAPH_CACHE_DIR": str(self.cache), "FAKE_LOG": str(self.log),
                            "FAKE_FAILS": "nothing", "PYTHONPATH": str(ROOT / "python")}

    def start(self, *arguments, **environment):
        command = [sys.executable, "-m", "totograph_package", str(DEMO_2), "--compiler", str(self.fake), "--target",
                   "x86-64-v3", "--bucket", "variates=2 context=64 horizon=32", *arguments]
        return subprocess.Popen(command, env={**self.environment, **environment}, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def build(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        answer, said = process.communicate(timeout=60)
        return process.returncode, answer.strip(), said

    def compiled(self):
        return self.log.read_text().split() if self.log.exists() else []

    def test_many_processes_build_it_once(self):
        processes = [self.start() for _ in range(6)]
        answers = {process.communicate(timeout=60)[0].strip() for process in processes}
        self.assertEqual({process.returncode for process in processes}, {0})
        self.assertEqual(len(answers), 1)
        self.assertEqual(pathlib.Path(answers.pop()).read_text(), "made\n")
        self.assertEqual(sorted(self.compiled()), ["compiled.cpp", "exports.cpp", "link", "model.cpp", "package.cpp"])
        self.assertEqual([file for file in (self.cache / "packages").iterdir() if file.name.startswith("making")], [])

    def test_what_a_killed_process_left_is_removed(self):
        process = self.start(FAKE_FAILS="hangs")
        folder = self.cache / "packages"
        for _ in range(3000):
            if [file for file in self.compiled() if file == "link"]:
                break
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=60)
        self.assertTrue(list(folder.glob("making-*")))
        self.assertEqual(self.build()[0], 0)
        self.assertEqual(list(folder.glob("making-*")), [])

    def test_what_goes_into_it_tells_packages_apart(self):
        first = self.build()[1]
        self.assertEqual(self.build()[1], first)
        self.assertEqual(len(self.compiled()), 5)
        more = self.build("--bucket", "variates=3 context=64 horizon=32")[1]
        self.assertNotEqual(more, first)
        for same in ("compiled.cpp", "exports.cpp"):  # for all packages
            self.assertEqual(self.compiled().count(same), 1)
        others = {first, more, self.build("--target", "x86-64")[1], self.build("--optimize", "2")[1],
                  self.build("--name", "other")[1], self.build(FAKE_VERSION="2")[1],
                  self.build(FAKE_HEADERS="#define NLOHMANN_JSON_VERSION_MINOR 12")[1]}
        self.assertEqual(len(others), 7)
        self.assertTrue(all(pathlib.Path(one).exists() for one in others))

    def test_a_package_for_devices_is_compiled_by_nvcc(self):
        toolkit = self.folder / "toolkit"
        (toolkit / "bin").mkdir(parents=True)
        nvcc = toolkit / "bin" / "nvcc"
        nvcc.write_text("#!/bin/sh\necho nvcc \"$@\" >>\"$FAKE_ASKED\"\n" + FAKE_COMPILER.split("\n", 1)[1].replace(
            "fake 1.0", "Cuda compilation tools, release ${FAKE_RELEASE:-13.0}, V1"))
        nvcc.chmod(0o755)
        asked = self.folder / "asked"
        given = {"CUDACXX": str(nvcc), "FAKE_ASKED": str(asked)}
        device = ("--device", "cuda", "--architecture", "90a", "--architecture", "sm_80")
        self.assertIn("cublasLt was looked for in", self.build(*device, **given)[2])
        (toolkit / "lib64").mkdir()
        (toolkit / "lib64" / "libcublasLt.so").touch()
        status, first, said = self.build(*device, **given)
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(self.compiled()), ["compiled.cpp", "cuda_compiled.cu", "device.cu", "exports.cpp", "link",
                                                   "model.cpp", "package.cpp"])
        compiled = [line for line in asked.read_text().splitlines() if " -c " in line]
        self.assertEqual(len(compiled), 2)
        for line in compiled:
            for part in ("-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_80,code=sm_80", "-O3",
                         f"-ccbin={self.fake}", "-Xcompiler=-march=x86-64-v3", "-Xcompiler=-fPIC",
                         "-DTOTOGRAPH_SEPARATE_COMPILATION", "-DTOTOGRAPH_SEPARATE_CUDA_COMPILATION"):
                self.assertIn(part, line.split())
        others = {first, self.build(*device, "--precision", "tf32", **given)[1], self.build(**given)[1],
                  self.build(*device[:4], **given)[1], self.build(*device, FAKE_RELEASE="12.4", **given)[1]}
        self.assertEqual(len(others), 5)
        # For all packages with these compilers and for these devices.
        self.assertEqual((self.compiled().count("cuda_compiled.cu"), self.compiled().count("compiled.cpp")), (3, 1))
        for arguments, environment, says in [
            (device, {"FAKE_FAILS": "device.cu"}, "nvcc cannot compile device.cu: b.hpp:3:5: error: no such bucket"),
            (device, {"CUDACXX": "no-such-nvcc"}, "No CUDA compiler is there: looked for no-such-nvcc."),
            (device, {"FAKE_RELEASE": "12.3"}, "is of CUDA 12.3, and 12.4 or later is needed"),
            (device[:2], {"PATH": str(toolkit)}, "No CUDA device is there, whose architecture"),
            (("--device", "cuda", "--architecture", "hopper"), {}, "'hopper' is no architecture"),
            (device[2:], {}, "name --device cuda as well"), (("--precision", "f32"), {}, "name --device cuda as well")]:
            status, _, said = self.build("--name", "fails", *arguments, **{**given, **environment})
            self.assertEqual(status, 1)
            self.assertIn(says, said)

    def test_architectures_are_those_of_this_machine(self):
        asks = self.folder / "nvidia-smi"
        asks.write_text("#!/bin/sh\nprintf '8.9\\n9.0\\n9.0\\n12.0\\n'\n")
        asks.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"}):
            self.assertEqual(cuda.architectures_here(), ["120", "89", "90a"])

    def test_an_output_is_written_where_it_is_wanted(self):
        target = self.folder / "mine.so"
        status, answer, _ = self.build("--output", str(target))
        self.assertEqual((status, answer), (0, str(target)))
        self.assertEqual(target.read_text(), "made\n")
        self.assertEqual(self.build("--output", str(target), TOTOGRAPH_CACHE_DIR="")[0], 0)
        status, _, said = self.build(TOTOGRAPH_CACHE_DIR="")
        self.assertEqual(status, 1)
        self.assertIn("no folder to keep the package in", said)

    def test_an_output_that_cannot_be_is_refused_before_anything_is_compiled(self):
        for output, says in [(self.folder, "that is a folder"), (self.folder / "none" / "own.so", "there is no folder")]:
            status, _, error = self.build("--output", str(output))
            self.assertEqual(status, 1)
            self.assertIn(f"cannot be written to '{output}': {says}", error)
        self.assertEqual(self.compiled(), [])

    def test_fewer_jobs_than_one_are_refused(self):
        for jobs in ("0", "-1"):
            status, _, error = self.build("--jobs", jobs)
            self.assertEqual(status, 1)
            self.assertIn(f"--jobs cannot be {jobs}; name 1 or more.", error)
        self.assertEqual(self.compiled(), [])

    def test_what_it_cost_is_told(self):
        self.assertRegex(self.build()[2], r"Built '.*so': 0\.0 MB, in \d+ s of processor time\.")
        self.assertRegex(self.build()[2], r"Found '.*so'\.")

    def test_a_compiler_that_fails_says_so_with_its_first_error(self):
        for source, what in (("model.cpp", "compile model.cpp"), ("link", "link toto2_")):
            status, answer, said = self.build(FAKE_FAILS=source)
            self.assertEqual((status, answer), (1, ""))
            self.assertIn(f"fake-c++ cannot {what}", said)
            self.assertIn("b.hpp:3:5: error: no such bucket", said)
            self.assertNotIn("another", said)
            self.assertNotIn("Traceback", said)
        self.assertEqual(self.build()[0], 0)  # nothing broken was kept
        status, _, said = self.build("--compiler", "no-such-compiler")
        self.assertEqual(status, 1)
        self.assertIn("No C++ compiler is there: looked for no-such-compiler", said)

    def test_what_others_could_have_written_is_not_used(self):
        package = pathlib.Path(self.build()[1])
        package.chmod(0o775)
        status, _, said = self.build()
        self.assertEqual(status, 1)
        self.assertIn("its group may write to it (mode 775)", said)
        package.unlink()
        package.symlink_to(self.fake)
        self.assertIn("it is not a regular file", self.build()[2])
        package.unlink()
        package.parent.chmod(0o777)
        status, _, said = self.build()
        self.assertEqual(status, 1)
        self.assertIn("everybody may write to it", said)
        package.parent.chmod(0o755)
        self.assertEqual(self.build()[0], 0)

    def test_a_package_and_its_folders_are_their_owners_whatever_the_umask(self):
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        package = pathlib.Path(self.build()[1])
        os.umask(before)
        for one in (package, package.parent, self.cache):
            self.assertEqual(stat.S_IMODE(one.stat().st_mode), 0o755, one)

    def test_another_owner_is_not_trusted(self):
        status = mock.Mock(st_mode=stat.S_IFREG | 0o644, st_uid=os.geteuid() + 1)
        self.assertIn("belongs to user", cache.reason_to_distrust(status))
        status.st_uid = 0
        self.assertEqual(cache.reason_to_distrust(status), "")


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class ForeignHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.compiler = compiler.find_compiler("g++", "x86-64")

    def prefix(self, name, version):
        for file in ("include/eigen3/Eigen/Core", "include/nlohmann/json.hpp", "include/nlohmann/json_fwd.hpp"):
            path = self.folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#pragma once\n#define LIBRARY_VERSION {version}\n")
        return self.folder / name

    def digest(self, **environment):
        unset = {"CPATH": "", "CMAKE_PREFIX_PATH": "", **environment}
        with mock.patch.dict(os.environ, {name: str(value) for name, value in unset.items()}):
            return self.compiler.digest(find_library().foreign_headers(), compiler.dependency_includes())

    def test_are_those_that_the_compiler_finds(self):
        self.assertEqual(find_library().foreign_headers(), ("Eigen/Core", "nlohmann/json.hpp", "nlohmann/json_fwd.hpp"))
        one, same, two = (self.prefix(*given) for given in (("one", 1), ("same", 1), ("two", 2)))
        by_prefix = {name: self.digest(CMAKE_PREFIX_PATH=name) for name in (one, same, two)}
        self.assertEqual(by_prefix[one], by_prefix[same])  # where they lie says nothing
        self.assertNotEqual(by_prefix[one], by_prefix[two])
        by_path = {name: self.digest(CPATH=f"{name}/include:{name}/include/eigen3") for name in (one, two)}
        self.assertEqual(by_path, {name: by_prefix[name] for name in (one, two)})
        json_alone = self.digest(CMAKE_PREFIX_PATH=one, CPATH=two / "include")
        self.assertNotIn(json_alone, by_prefix.values())

    def test_that_are_missing_are_told(self):
        with self.assertRaisesRegex(compiler.CompilerError, "g.. cannot read what packages .* nlohmann/no_such.hpp"):
            self.compiler.digest(["nlohmann/no_such.hpp"], [])


class FirstError(unittest.TestCase):
    def test_is_the_line_that_says_it(self):
        for messages, status, says in [
            ("In file included from x:\ny.cpp:1: fatal error: Eigen/Core: No such file or directory\n", 1, "libeigen3-dev"),
            ("/usr/bin/ld: a.o: undefined reference to `f'\ncollect2: error: ld\n", 1, "undefined reference to `f'"),
            ("", 4, "ended with status 4"), ("g++: fatal error: Killed signal terminated program\n", 1, "--jobs"),
            ("x: warning: w\nx:2: error: static assertion failed: totograph: s\n", 1, "static assertion failed")]:
            self.assertIn(says, compiler.first_error(messages, status))


if __name__ == "__main__":
    unittest.main(verbosity=2)
