#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converts a checkpoint that torch wrote into a folder with model.safetensors and config.json.

    tools/convert_checkpoint.py lightning_logs/version_0/checkpoints/last.ckpt checkpoint

INPUT is a Lightning checkpoint of a fine-tuned Toto 1.0 (.ckpt), what a loop of one's own wrote ("model_state_dict",
"model" or "module" beside an optimizer's), or a file of its weights alone (pytorch_model.bin, .pt). Tensors keep their
numbers and their types. Needs Python 3.9 and nothing else: torch is not asked, and nothing that a pickle names is
called, so a hostile file runs no code.

config.json is made of, in this order: --config FILE, the config.json of the model that was fine-tuned; the
hyper-parameters in the checkpoint, where they describe the model; Toto Open Base 1.0, where all shapes are its.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import pickle
import re
import struct
import sys
import tempfile
import zipfile
import zlib

DTYPES = {  # torch's name: safetensors' name, bytes
    "Float": ("F32", 4), "Double": ("F64", 8), "Half": ("F16", 2), "BFloat16": ("BF16", 2), "Long": ("I64", 8),
    "Int": ("I32", 4), "Short": ("I16", 2), "Char": ("I8", 1), "Byte": ("U8", 1), "Bool": ("BOOL", 1),
}
MOST_DESCRIBED = 64 << 20  # bytes of the pickle, which holds names and shapes alone
MOST_REPEATED = 1 << 20  # elements of a tensor that has more of them than its storage
WEIGHTS, CONFIG = "model.safetensors", "config.json"
PARTS = ("patch_embed.", "transformer.", "unembed.", "output_distribution.", "target_variate_label",
         "exogenous_variate_label")
STATES = ("state_dict", "model_state_dict", "model", "module")  # Lightning's, and those of loops of one's own
WRAPPERS = ("_orig_mod", "module", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")  # as C++'s `unwrapped_name`
SIGN = "model.patch_embed.projection.weight"  # what every Toto 1.0 has
CONFIG_FIELDS = {  # what a configuration must say, and what it may
    "patch_size": True, "stride": True, "embed_dim": True, "num_layers": True, "num_heads": True,
    "mlp_hidden_dim": True, "dropout": True, "spacewise_every_n_layers": True, "scaler_cls": True,
    "output_distribution_classes": True, "spacewise_first": False, "output_distribution_kwargs": False,
    "use_memory_efficient_attention": False, "stabilize_with_global": False, "scale_factor_exponent": False,
}
OPEN_BASE = {
    "patch_size": 64, "stride": 64, "embed_dim": 768, "num_layers": 12, "num_heads": 12, "mlp_hidden_dim": 3072,
    "dropout": 0.1, "spacewise_every_n_layers": 12, "spacewise_first": False,
    "scaler_cls": "<class 'model.scaler.CausalPatchStdMeanScaler'>",
    "output_distribution_classes": ["<class 'model.distribution.MixtureOfStudentTsOutput'>"],
    "output_distribution_kwargs": {"k_components": 24}, "use_memory_efficient_attention": True,
    "stabilize_with_global": True, "scale_factor_exponent": 10.0,
}


class Failure(Exception):
    """What ends the program, in a sentence for its user."""


class Storage:
    """The numbers of one or several tensors, in an entry of the archive."""

    def __init__(self, dtype, entry, elements):
        self.dtype, self.entry, self.elements = dtype, entry, elements


class Tensor:
    def __init__(self, storage, offset, shape, stride):
        self.storage, self.offset, self.shape, self.stride = storage, int(offset), tuple(shape), tuple(stride)
        numbers = (self.offset, *self.shape, *self.stride)
        if not isinstance(storage, Storage) or len(self.shape) != len(self.stride) or min(numbers) < 0:
            raise Failure("a tensor is described in a way that torch does not")

    @property
    def dtype(self):
        return DTYPES[self.storage.dtype][0]

    def bytes(self, archive):
        """Its numbers, row-major and little-endian."""
        size = DTYPES[self.storage.dtype][1]
        elements = math.prod(self.shape)
        last = self.offset + sum((extent - 1) * step for extent, step in zip(self.shape, self.stride))
        entry = archive.getinfo(self.storage.entry)
        if elements and last >= entry.file_size // size:
            raise Failure(f"a tensor reaches beyond its {entry.file_size} bytes in the archive")
        if elements > max(entry.file_size // size, MOST_REPEATED):
            raise Failure(f"a tensor repeats its {entry.file_size} bytes in the archive {elements:,} times over")
        content = memoryview(archive.read(entry))
        dense, expected = [], 1
        for extent, step in zip(reversed(self.shape), reversed(self.stride)):
            dense.append(extent == 1 or step == expected)
            expected *= extent
        if all(dense) or not elements:
            return content[self.offset * size : (self.offset + elements) * size]
        starts = [self.offset]
        for extent, step in zip(self.shape, self.stride):
            starts = [start + i * step for start in starts for i in range(extent)]
        return b"".join(content[start * size : (start + 1) * size] for start in starts)


class Unknown:
    """Stands for whatever else a pickle holds, such as the state of an optimizer's schedule: it takes all and does
    nothing."""

    def __init__(self, *_, **__):
        pass

    def __setstate__(self, _):
        pass

    def __setitem__(self, *_):
        pass

    def append(self, _):
        pass

    extend = add = append


class Reader(pickle.Unpickler):
    """Reads the pickle of a checkpoint. Of what it names, only tensors, their storages and dictionaries become what
    they are."""

    def __init__(self, stream, folder):
        super().__init__(stream)
        self.folder = folder

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return lambda storage, offset, shape, stride, *_: Tensor(storage, offset, shape, stride)
        if module == "torch._utils" and name in ("_rebuild_parameter", "_rebuild_parameter_with_state"):
            return lambda tensor, *_: tensor
        if module == "torch" and name.endswith("Storage"):
            return name.removesuffix("Storage")
        return Unknown

    def persistent_load(self, identifier):
        kind, dtype, key, _device, elements = identifier
        if kind != "storage" or dtype not in DTYPES or not re.fullmatch(r"\d+", str(key)):
            raise Failure(f"it holds a storage of an unknown kind, {dtype!r}")
        return Storage(dtype, f"{self.folder}data/{key}", elements)


def read_checkpoint(path, archive):
    """What torch.save was given."""
    names = [name for name in archive.namelist() if name.endswith("data.pkl") and name.count("/") <= 1]
    if len(names) != 1:
        raise Failure("it is a zip archive, but none of torch.save: it has no data.pkl")
    folder = names[0].removesuffix("data.pkl")
    if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder").strip() != b"little":
        raise Failure("it was written on a machine of the other byte order: load and save it with torch on this one")
    if archive.getinfo(names[0]).file_size > MOST_DESCRIBED:
        raise Failure(f"its data.pkl claims more than {MOST_DESCRIBED >> 20} MiB, which names and shapes never take")
    with archive.open(names[0]) as stream:
        return Reader(stream, folder).load()


def weights_of(content):
    """The tensors of a Toto in a checkpoint, by their published names, and how many others there were."""
    if not isinstance(content, dict):
        raise Failure("it holds no state_dict")
    within = [content[name] for name in STATES if isinstance(content.get(name), dict)]
    for state in [*within, content]:
        tensors, others = tensors_of(state)
        if SIGN in tensors:
            break
    if SIGN not in tensors:
        if not isinstance(content.get("state_dict", {}), dict):
            raise Failure(f"it holds no state_dict that is a dictionary, and elsewhere no tensor {SIGN!r}")
        raise Failure(f"it is no checkpoint of Toto 1.0: it has no tensor {SIGN!r}")
    return tensors, others


def tensors_of(state):
    """Those of a Toto in a dictionary of tensors, by their published names, and how many others there were."""
    tensors, others = {}, 0
    for name, tensor in state.items():
        if not isinstance(name, str) or not isinstance(tensor, Tensor):
            others += 1
            continue
        *parts, last = name.split(".")
        plain = ".".join([part for part in parts if part not in WRAPPERS] + [last]).removeprefix("model.")
        if plain.startswith(PARTS):
            if "model." + plain in tensors:
                raise Failure(f"it has the tensor {plain!r} twice, once as {name!r}: leave out the one that is not "
                              "meant")
            tensors["model." + plain] = tensor
        else:
            others += 1
    return tensors, others


def shapes_of(config):
    """Some tensors and the shapes that a configuration implies, those that tell sizes apart: a name, or the names of
    both ways to spell it, and a shape."""
    width, patch, hidden = config["embed_dim"], config["patch_size"], config["mlp_hidden_dim"]
    last = config["num_layers"] - 1
    components = (config.get("output_distribution_kwargs") or {}).get("k_components", 1)
    layer = f"model.transformer.layers.{last}."
    return [
        ([SIGN], (width, patch)),
        (["model.unembed.weight"], (width * patch, width)),
        ([layer + "norm1.scale"], (width,)),
        ([f"model.transformer.layers.{last + 1}.norm1.scale"], None),
        ([layer + "attention.wQKV.weight"], (3 * width, width)),
        ([layer + "mlp.0.weight", layer + "mlp.0.w12.weight"], (2 * hidden, width)),
        (["model.output_distribution.df.weight"], (components, width)),
    ]


def difference(config, tensors):
    """In what the weights contradict a configuration, as the end of a sentence; nothing when they do not."""
    spelled = lambda shape: "none" if shape is None else str(list(shape))
    for names, shape in shapes_of(config):
        found = next((tensors[name].shape for name in names if name in tensors), None)
        if found != shape:
            return f"the tensor {names[0]!r} should have the shape {spelled(shape)}, found {spelled(found)}"
    return None


def config_of(content, tensors, given):
    """The configuration of a checkpoint, and where it is from."""
    if given is not None:
        try:
            config = json.loads(given.read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise Failure(f"{given} is not JSON: {error}")
        source = str(given)
    else:
        parameters = content.get("hyper_parameters")
        described = isinstance(parameters, dict) and all(
            name in parameters for name, needed in CONFIG_FIELDS.items() if needed)
        config = {name: parameters[name] for name in CONFIG_FIELDS if name in parameters} if described else OPEN_BASE
        source = "its hyper-parameters" if described else "Toto Open Base 1.0"
    try:
        different = difference(config, tensors)
        text = json.dumps(config, indent=2) + "\n"
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Failure(f"the configuration of {source} is none of Toto 1.0: {type(error).__name__} {error}")
    if different and given is None and source == "Toto Open Base 1.0":
        raise Failure(f"its configuration is not in it, and it is not of Toto Open Base 1.0: {different}. Name the "
                      "config.json of the model that was fine-tuned with --config")
    if different:
        raise Failure(f"it does not fit the configuration of {source}: {different}")
    return text, source


def write_safetensors(stream, tensors, archive):
    """Writes a safetensors file, a tensor at a time."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    order = sorted(tensors, key=lambda name: (-DTYPES[tensors[name].storage.dtype][1], name))  # aligned by their size
    for name in order:
        tensor = tensors[name]
        end = at + math.prod(tensor.shape) * DTYPES[tensor.storage.dtype][1]
        header[name] = {"dtype": tensor.dtype, "shape": list(tensor.shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    stream.write(struct.pack("<Q", len(text)) + text)
    for name in order:
        stream.write(tensors[name].bytes(archive))


def write_atomically(path, write):
    """Puts a file in its place when `write(stream)` has written all of it."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def kind_of(path):
    """Why a file is no archive of torch, in words that help."""
    with open(path, "rb") as stream:
        start = stream.read(64)
    if not start:
        return "it is empty"
    if start.startswith(b"version https://git-lfs"):
        return "it is a Git LFS pointer: run 'git lfs pull' in its repository"
    if start.lstrip()[:1] == b"<":
        return "it is a page of HTML: download the file again"
    if start[4:9] == b"\0\0\0\0{":
        return "it is a safetensors file already: give it to --checkpoint as it is"
    if start[:1] == b"\x80":
        return "it is of the format that torch wrote before version 1.6: load and save it with a later one"
    if start.startswith(b"PK"):
        return "it is a zip archive that is cut off or damaged: copy or download it again"
    return "it is no archive of torch.save"


def convert(arguments):
    path, folder = arguments.input, arguments.output
    for name in (WEIGHTS, CONFIG):
        if (folder / name).exists() and not arguments.force:
            raise Failure(f"{folder / name} exists; --force replaces it")
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise Failure(kind_of(path))
    with archive:
        content = read_checkpoint(path, archive)
        tensors, others = weights_of(content)
        config, source = config_of(content, tensors, arguments.config)
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / WEIGHTS, lambda stream: write_safetensors(stream, tensors, archive))
        write_atomically(folder / CONFIG, lambda stream: stream.write(config.encode()))
    numbers = sum(math.prod(tensor.shape) for tensor in tensors.values())
    print(f"{folder} holds {len(tensors)} tensors, {numbers:,} numbers; {CONFIG} is of {source}.")
    if others:
        print(f"Left out: {others} entries that are no weights of Toto.")
    if any(name.endswith("_variate_label") for name in tensors):
        print("It was fine-tuned with exogenous variates: compile its configuration with variate_labels = true.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("input", metavar="INPUT", type=pathlib.Path, help="what torch or Lightning wrote")
    parser.add_argument("output", metavar="FOLDER", type=pathlib.Path, help="the checkpoint; made if it is missing")
    parser.add_argument("--config", metavar="FILE", type=pathlib.Path, help="config.json of the model that was tuned")
    parser.add_argument("--force", action="store_true", help="replace what is in FOLDER")
    arguments = parser.parse_args()
    try:
        convert(arguments)
    except Failure as failure:
        print(f"{arguments.input}: {failure}.", file=sys.stderr)
        return 1
    except (pickle.UnpicklingError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, TypeError,
            AttributeError, IndexError, OverflowError, RuntimeError) as error:
        print(f"{arguments.input}: it is damaged, or of a kind that is not known ({type(error).__name__}: {error}).",
              file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or arguments.output}: {error.strerror or error}.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
