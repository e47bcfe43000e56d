#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/convert_checkpoint.py on checkpoints that toto-ts and Lightning wrote (tests/data/finetuned), and on what is
none. Where torch is installed, also on files that torch writes now."""
import io
import json
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "convert_checkpoint.py"
DATA = ROOT / "tests" / "data" / "finetuned"


def read_safetensors(path):
    """Its tensors: dtype, shape and bytes of each name."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    data = content[8 + length :]
    return {name: (tensor["dtype"], tensor["shape"], data[slice(*tensor["data_offsets"])])
            for name, tensor in header.items()}


def with_item(pickled, name, value):
    """A pickle of a dictionary that has one more item, set last: its key, its value and SETITEM before the stop."""
    assert pickled.endswith(b".")
    body = lambda one: pickle.dumps(one, 2)[2:-1]  # without the protocol and the stop
    return pickled[:-1] + body(name) + body(value) + b"s."


class ConvertCheckpoint(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder = self.scratch / "checkpoint"

    def run_tool(self, path, *arguments):
        return subprocess.run([sys.executable, TOOL, path, self.folder, *arguments], capture_output=True, text=True,
                              cwd=self.scratch, timeout=60)

    def convert(self, path, *arguments):
        done = self.run_tool(path, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refuse(self, path, *words, arguments=()):
        done = self.run_tool(path, *arguments)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        for name in ("model.safetensors", "config.json"):
            self.assertFalse((self.folder / name).exists())

    def file(self, name, content):
        path = self.scratch / name
        path.write_bytes(content)
        return path

    def tampered(self, change):
        """described.ckpt with another pickle."""
        path = self.scratch / "tampered.ckpt"
        with zipfile.ZipFile(DATA / "described.ckpt") as archive, zipfile.ZipFile(path, "w") as copy:
            for name in archive.namelist():
                content = archive.read(name)
                copy.writestr(name, change(content) if name.endswith("data.pkl") else content)
        return path

    def test_hyper_parameters_describe_the_model(self):
        said = self.convert(DATA / "described.ckpt")
        self.assertIn("its hyper-parameters", said)
        self.assertEqual(read_safetensors(self.folder / "model.safetensors"),
                         read_safetensors(DATA / "model.safetensors"))
        self.assertEqual(json.loads((self.folder / "config.json").read_text()),
                         json.loads((DATA / "config.json").read_text()))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["config.json", "model.safetensors"])

    def test_weights_under_the_names_of_loops_of_ones_own(self):
        lightning = b"X\x0a\0\0\0state_dict"
        for name in (b"model_state_dict", b"model", b"module"):
            with self.subTest(name=name):
                renamed = b"X" + struct.pack("<I", len(name)) + name
                path = self.tampered(lambda pickled: pickled.replace(lightning, renamed))
                self.convert(path, "--force")
                self.assertEqual(read_safetensors(self.folder / "model.safetensors"),
                                 read_safetensors(DATA / "model.safetensors"))
        # A state_dict that is something else is passed over: the weights are in `model`.
        model = b"X" + struct.pack("<I", 5) + b"model"
        for something in (1, "text", None, [2]):
            with self.subTest(state_dict=something):
                self.convert(self.tampered(
                    lambda pickled: with_item(pickled.replace(lightning, model), "state_dict", something)), "--force")
                self.assertEqual(read_safetensors(self.folder / "model.safetensors"),
                                 read_safetensors(DATA / "model.safetensors"))
        other = b"X" + struct.pack("<I", 5) + b"other"
        self.folder = self.scratch / "nothing"
        self.refuse(self.tampered(lambda pickled: pickled.replace(lightning, other)), "has no tensor")

    def test_what_wraps_a_model_is_left_out_of_names(self):
        name = b"model.patch_embed.projection.weight"
        pickled = lambda text: b"X" + struct.pack("<I", len(text)) + text
        for wrapped in (b"module.model.patch_embed.projection.weight",
                        b"model._orig_mod.patch_embed.module.projection.weight",
                        b"model.patch_embed._fsdp_wrapped_module._checkpoint_wrapped_module.projection.weight"):
            with self.subTest(name=wrapped):
                self.convert(self.tampered(lambda before: before.replace(pickled(name), pickled(wrapped))), "--force")
                self.assertEqual(read_safetensors(self.folder / "model.safetensors"),
                                 read_safetensors(DATA / "model.safetensors"))
        self.folder = self.scratch / "nothing"
        other = b"model.patch_embed.projection.bias"
        twice = b"model.patch_embed.module.projection.weight"
        self.refuse(self.tampered(lambda before: before.replace(pickled(other), pickled(twice))),
                    "'patch_embed.projection.weight' twice", "module")

    def test_wrappers_are_those_of_the_library(self):
        header = (ROOT / "include/totograph/forecast/weights/name_prefix.hpp").read_text()
        (words,) = re.findall(r"wrappers\[\] = {([^}]*)}", header)
        (own,) = re.findall(r"(?m)^WRAPPERS = \(([^)]*)\)", TOOL.read_text())
        self.assertEqual([word + "." for word in re.findall('"(.*?)"', own)], re.findall('"(.*?)"', words))

    def test_a_pretrained_backbone_needs_its_configuration(self):
        self.refuse(DATA / "exogenous.ckpt", "--config", "not of Toto Open Base 1.0")
        said = self.convert(DATA / "exogenous.ckpt", "--config", DATA / "config.json")
        self.assertIn("variate_labels = true", said)
        self.assertEqual(read_safetensors(self.folder / "model.safetensors"),
                         read_safetensors(DATA / "exogenous.safetensors"))

    def test_a_configuration_of_another_model(self):
        config = json.loads((DATA / "config.json").read_text())
        for field, value in (("num_layers", 1), ("num_layers", 3), ("embed_dim", 16), ("mlp_hidden_dim", 8),
                             ("patch_size", 8), ("output_distribution_kwargs", {"k_components": 3})):
            other = self.file("other.json", json.dumps({**config, field: value}).encode())
            self.refuse(DATA / "described.ckpt", "does not fit", "should have the shape", arguments=("--config", other))
        for wrong in (b"{", b"[]", b'{"embed_dim": 8}', b'{"embed_dim": "8"}'):
            self.refuse(DATA / "described.ckpt", "other.json", arguments=("--config", self.file("other.json", wrong)))

    def test_what_is_there_is_kept(self):
        self.convert(DATA / "described.ckpt")
        before = (self.folder / "model.safetensors").read_bytes()
        done = self.run_tool(DATA / "exogenous.ckpt", "--config", DATA / "config.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--force", done.stderr)
        self.assertEqual((self.folder / "model.safetensors").read_bytes(), before)
        self.convert(DATA / "exogenous.ckpt", "--config", DATA / "config.json", "--force")
        self.assertNotEqual((self.folder / "model.safetensors").read_bytes(), before)

    def test_a_pickle_runs_no_code(self):
        class Hostile:
            def __reduce__(self):
                return exec, ("open('ran', 'w')",)

        self.refuse(self.tampered(lambda _: pickle.dumps(Hostile(), 2)), "no state_dict")
        self.refuse(self.tampered(lambda _: pickle.dumps({"state_dict": Hostile()}, 2)), "no state_dict")
        self.assertFalse((self.scratch / "ran").exists())

    def test_what_is_no_checkpoint(self):
        whole = (DATA / "described.ckpt").read_bytes()
        self.refuse(self.file("a.ckpt", b""), "is empty")
        self.refuse(self.file("a.ckpt", b"version https://git-lfs.github.com/spec/v1\n"), "git lfs pull")
        self.refuse(self.file("a.ckpt", b"<!DOCTYPE html>"), "HTML")
        self.refuse(self.file("a.bin", b"\x80\x02}q\x00."), "before version 1.6")
        self.refuse(self.file("a.ckpt", whole[:5000]), "cut off or damaged")
        self.refuse(DATA / "model.safetensors", "safetensors file already")
        self.refuse(self.scratch / "absent.ckpt", "absent.ckpt: No such file")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("readme.txt", "text")
        self.refuse(self.file("a.zip", buffer.getvalue()), "no data.pkl")
        self.refuse(self.tampered(lambda content: content[: len(content) // 2]), "damaged")
        foreign = pickle.dumps({"state_dict": {"bert.weight": 1}}, 2)
        self.refuse(self.tampered(lambda _: foreign), "no checkpoint of Toto")
        # A tensor that claims more than its storage has: an attention's last weights, 8 rows of 8.
        grown = self.tampered(lambda content: content.replace(b"K\x08K\x08\x86", b"K\xffK\x08\x86", 1))
        self.refuse(grown, "a tensor reaches beyond its 256 bytes")
        # And one of 2^32 rows, which are all the same.
        endless = self.tampered(lambda content: re.sub(
            rb"K\x08K\x08\x86(q.|r....|\x94|)K\x08K\x01\x86",
            lambda found: b"\x8a\x05\0\0\0\0\x01K\x08\x86" + found[1] + b"K\0K\x01\x86",
            content, count=1, flags=re.DOTALL))
        self.refuse(endless, "a tensor repeats its 256 bytes")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", foreign)
        packed = bytearray(buffer.getvalue())
        packed[30 + len("archive/data.pkl")] = 0xFF  # behind the entry's head, where what is compressed begins
        self.refuse(self.file("a.zip", packed), "damaged")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("archive/data.pkl", bytes(65 << 20))
        self.refuse(self.file("a.zip", buffer.getvalue()), "claims more than 64 MiB")

    def test_files_that_torch_writes_now(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not installed")
        plain = torch.load(DATA / "described.ckpt", weights_only=True)["state_dict"]
        expected = read_safetensors(DATA / "model.safetensors")
        config = ("--config", DATA / "config.json", "--force")

        def converted(state):
            torch.save(state, self.scratch / "pytorch_model.bin")
            self.convert(self.scratch / "pytorch_model.bin", *config)
            return read_safetensors(self.folder / "model.safetensors")

        self.assertEqual(converted(plain), expected)
        without_prefix = {name.removeprefix("model."): torch.nn.Parameter(value) for name, value in plain.items()}
        self.assertEqual(converted(without_prefix), expected)
        parallel = {"module.model._orig_mod." + name: value for name, value in without_prefix.items()}
        self.assertEqual(converted(parallel), expected)
        by_columns = {name: value.t().contiguous().t() if value.dim() == 2 else value for name, value in plain.items()}
        self.assertEqual(converted(by_columns), expected)
        together = torch.cat([value.flatten() for value in plain.values()])  # all in one storage
        parts = together.split([value.numel() for value in plain.values()])
        self.assertEqual(converted({name: part.view(plain[name].shape) for name, part in zip(plain, parts)}), expected)
        for dtype, name in ((torch.bfloat16, "BF16"), (torch.float16, "F16"), (torch.float64, "F64")):
            narrow = {key: value.to(dtype) for key, value in plain.items()}
            result = converted(narrow)
            for key, value in narrow.items():
                stored, _, content = result[key]
                self.assertEqual(stored, name)
                self.assertTrue(torch.equal(torch.frombuffer(bytearray(content), dtype=dtype), value.flatten()))
        with open(self.scratch / "old.bin", "wb") as stream:
            torch.save(plain, stream, _use_new_zipfile_serialization=False)
        done = self.run_tool(self.scratch / "old.bin", *config)
        self.assertIn("before version 1.6", done.stderr)


if __name__ == "__main__":
    unittest.main()
