"""What is exported: a model class, its configuration, and the inputs and outputs of the graph."""

import re
from dataclasses import dataclass, field

import numpy as np
import torch

DTYPES = {"i64": torch.int64, "i32": torch.int32, "f32": torch.float32, "bool": torch.bool}

# Axis -> its length while the graph is traced. Unequal and odd, so that no two axes are taken for one.
TRACE = {
    "batch": 2,
    "text_batch": 3,
    "sequence": 19,
    "decoder_sequence": 11,
    "encoder_sequence": 23,
    "past": 7,
    "samples": 16000,
    "frames": 200,
    "points": 6,
}
# Axis -> the two lengths at which the refilled graph runs.
TEST = {
    "batch": (1, 2),
    "text_batch": (2, 4),
    "sequence": (16, 45),
    "decoder_sequence": (4, 9),
    "encoder_sequence": (16, 33),
    "past": (16, 31),
    "samples": (16000, 24000),
    "frames": (128, 300),
    "points": (2, 5),
}
# Axis -> the least and the greatest length that may be asked for.
AXES = {
    "batch": [1, 64],
    "text_batch": [1, 64],
    "sequence": [1, 512],
    "decoder_sequence": [1, 512],
    "encoder_sequence": [1, 512],
    "past": [1, 1024],
    "samples": [4000, 480000],
    "frames": [16, 3000],
    "points": [1, 16],
}


def mentions(dim, axis):
    """Whether a dimension, or an expression such as `past+sequence`, speaks of an axis."""
    return not isinstance(dim, int) and re.search(rf"\b{axis}\b", dim) is not None


@dataclass
class Input:
    """One input of a graph, written `name:dtype[dim,dim,...]=fill`."""

    name: str
    dtype: str
    dims: list
    fill: str

    PATTERN = re.compile(r"^([\w.]+):(\w+)\[(.*)\]=(.+)$")

    @classmethod
    def parse(cls, text):
        name, dtype, dims, fill = cls.PATTERN.match(text).groups()
        dims = [int(d) if d.strip().isdigit() else d.strip() for d in dims.split(",") if d.strip()]
        return cls(name, dtype, dims, fill)

    def shape(self, axes):
        return [d if isinstance(d, int) else int(eval(d, {"__builtins__": {}}, axes)) for d in self.dims]

    def sample(self, axes, rng):
        """A value for this input, with the length of every axis given."""
        shape, (kind, *args) = self.shape(axes), self.fill.split(":")
        if kind == "range":
            start = int(eval(args[0], {"__builtins__": {}}, axes)) if args else 0
            value = np.arange(start, start + shape[-1])
        else:
            value = FILLS[kind](shape, args, rng)
        return torch.from_numpy(np.ascontiguousarray(np.broadcast_to(value, shape))).to(DTYPES[self.dtype])


def token_ids(shape, args, rng):
    """Clear of the special tokens, which are the first ones."""
    count = int(args[0])
    return rng.integers(min(10, count // 2), count, shape)


def normal(shape, args, rng):
    mean, deviation = (float(a) for a in args) if args else (0.0, 1.0)
    return mean + deviation * rng.standard_normal(shape)


def boxes(shape, args, rng):
    corners = rng.integers(0, int(args[0]), shape)
    first, last = corners[..., :2], corners[..., 2:]
    return np.concatenate([np.minimum(first, last), np.maximum(first, last)], -1)


def grid(shape, args, rng):
    patches = np.arange(shape[-2])
    return np.stack([patches // int(args[0]), patches % int(args[0])], -1)


FILLS = {
    "ids": token_ids,
    "ones": lambda shape, args, rng: np.ones(shape),
    "zeros": lambda shape, args, rng: np.zeros(shape),
    "const": lambda shape, args, rng: np.full(shape, float(args[0])),
    "normal": normal,
    "uniform": lambda shape, args, rng: rng.uniform(float(args[0]), float(args[1]), shape),
    "boxes": boxes,
    "grid": grid,
}


@dataclass
class Spec:
    name: str
    cls: str  # class in transformers, or "diffusers.NAME"
    inputs: list
    outputs: list  # an attribute of the class's result, or "graph_name=attribute", in the order of the graph
    published: str
    config: dict = field(default_factory=dict)
    family: str = "embedding"
    arch: str = "encoder-only"
    category: str = "text encoders"
    task: str = "feature-extraction"
    reduced: str = ""
    adapter: str = "Plain"
    args: dict = field(default_factory=dict)  # of the adapter
    const: dict = field(default_factory=dict)  # constant keyword arguments of forward
    trace: dict = field(default_factory=dict)  # replaces TRACE
    test: dict = field(default_factory=dict)  # replaces TEST
    axes: dict = field(default_factory=dict)  # replaces AXES
    attention: str = ""
    settings: dict = field(default_factory=dict)  # set on the configuration after it was made: path -> value
    tracer: str = "dynamo"  # or "torchscript"
    optimize: bool = True  # the exporter's own simplification, which fails on some graphs
    patches: list = field(default_factory=list)  # names in patches.PATCHES
    weightless: bool = False  # no weight is ever allocated while exporting: for what is too big for memory
    unrun: str = ""  # why the graph can't be run where it is made
    tried: str = ""  # where it does not export: what else was tried


class Table(list):
    """The models of one family."""

    def add(self, name, cls, inputs, outputs, published, config=None, **fields):
        outputs = outputs.split() if isinstance(outputs, str) else outputs
        self.append(Spec(name, cls, inputs, outputs, published, config or {}, **fields))
