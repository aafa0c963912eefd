"""The numbers of a case, and how a case is written down.

Floats are odd multiples of 1/64 below 2 in magnitude, unless a case asks for others. All of them are the same number in float16,
bfloat16 and float32, none is zero, none lies within 1/64 of a whole number or of a half, and within one tensor none stands twice:
no result hangs on how a tie is broken or how an input was rounded. They come from a generator that is written out below and begins
with the name of the case, so that every version of every package makes the same ones.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

FLOAT, HALF, DOUBLE = "float32", "float16", "float64"
INT8, INT32, INT64, UINT8, BOOL = "int8", "int32", "int64", "uint8", "bool"
SHORT = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "bool",
    "int4": "i4",
}

type_of = np.dtype


def splitmix(seed: int) -> Iterator[int]:
    """64-bit numbers."""
    mask = (1 << 64) - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


@dataclass
class Constant:
    """An input that stands in the graph: weights, and what engines want to know when they compile (axes, shapes, pads)."""

    array: np.ndarray


@dataclass
class Node:
    """One operator with its inputs; `None` is an optional input that is left out."""

    inputs: list["np.ndarray | Constant | None"]
    attributes: dict[str, Any]
    outputs: int = 1
    # Long sums: an engine that adds up in float16 is still right.
    sums: bool = False
    # Computed in the types of the graph, not in float64: the type itself is what the operator is about.
    native: bool = False
    # Integers that may be one off, since they are rounded from a scaled sum.
    rounded: bool = False
    domain: str = ""
    opset: int = 0
    # What must come out, where the evaluator of ONNX has no such operator.
    expected: list[np.ndarray] | None = None
    # Outputs that lie anywhere up to this far from `expected`.
    within: float = 0.0


def node(*inputs: "np.ndarray | Constant | None", **more: Any) -> Node:
    """What is no field of a node is an attribute of the operator."""
    fields = {name: more.pop(name) for name in list(more) if name in Node.__dataclass_fields__ and name != "attributes"}
    return Node(list(inputs), more, **fields)


def constant(values: Any, dtype: str = INT64) -> Constant:
    return Constant(np.array(values, dtype=dtype))


@dataclass
class Values:
    """Makes the tensors of one case, of its type unless another one is named."""

    name: str
    type: str
    numbers: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = splitmix(int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little"))

    def picked(self, count: int, pool: list[int]) -> list[int]:
        """Numbers from all over the pool, in no order; each at most once, as long as it has others."""
        picked: list[int] = []
        while len(picked) < count:
            parts = min(len(pool), count - len(picked))
            bounds = [part * len(pool) // parts for part in range(parts + 1)]
            chosen = [pool[low + next(self.numbers) % (high - low)] for low, high in zip(bounds, bounds[1:])]
            while chosen:
                picked.append(chosen.pop(next(self.numbers) % len(chosen)))
        return picked

    def __call__(self, *dims: int, low: float = -2, high: float = 2, dtype: str = "") -> np.ndarray:
        """Floats between `low` and `high`; integers between eight times that."""
        dtype = dtype or self.type
        count = math.prod(dims)
        if dtype == BOOL:
            # Both values, in no order that an engine could guess.
            return np.array([k % 3 != 0 for k in self.picked(count, list(range(max(count, 3))))], dtype=bool).reshape(
                dims
            )
        if np.issubdtype(type_of(dtype), np.integer):
            least = max(8 * low, 1) if dtype.startswith("u") else 8 * low
            pool = [k for k in range(math.ceil(least), int(8 * high) + 1) if k != 0]
            return np.array(self.picked(count, pool), dtype=dtype).reshape(dims)
        pool = [k for k in range(math.ceil(64 * low), int(64 * high)) if k % 2]
        return (np.array(self.picked(count, pool), dtype=np.float64) / 64).astype(dtype).reshape(dims)

    def weights(self, *dims: int, low: float = -2, high: float = 2, dtype: str = "") -> Constant:
        return Constant(self(*dims, low=low, high=high, dtype=dtype))

    def beside(self, other: np.ndarray) -> np.ndarray:
        """A third of these numbers as they are, a third a little less, a third a little more."""
        step = 1 if np.issubdtype(other.dtype, np.integer) else 0.125
        sides = [k % 3 - 1 for k in self.picked(other.size, list(range(other.size)))]
        return (other + step * np.array(sides).reshape(other.shape)).astype(other.dtype)

    def of(self, values: Any) -> np.ndarray:
        """These numbers, in the type of the case."""
        return np.array(values, dtype=self.type)


Maker = Callable[[Values], Node]


@dataclass
class Case:
    name: str
    operator: str
    type: str
    edge: bool
    node: Node


def words(operator: str) -> str:
    """`ReduceLogSumExp` as `reduce_log_sum_exp`, `GatherND` as `gather_nd`."""
    text = operator.replace("NaN", "Nan")
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text).lower()


class Table:
    """Cases, in the order in which they were added."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def add(self, operator: str, types: list[str], plain: Maker, edge_types: int = 1, **edges: Maker) -> None:
        """The plain case in each type, and each edge, under its name, in the first `edge_types` of them."""
        for kind in types:
            self.put(operator, "", kind, plain)
        for variant, make in edges.items():
            for kind in types[:edge_types]:
                self.put(operator, variant, kind, make)

    def put(self, operator: str, variant: str, kind: str, make: Maker, edge: bool | None = None) -> None:
        """One case. What has a variant is an edge, unless it is said otherwise."""
        name = "_".join(part for part in (words(operator), variant, SHORT[kind]) if part)
        is_edge = bool(variant) if edge is None else edge
        self.cases.append(Case(name, operator, kind, is_edge, make(Values(name, kind))))
