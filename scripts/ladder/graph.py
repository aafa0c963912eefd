"""The graph of a case, what must come out of it, and how far an answer may lie from that."""

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from .values import Case, Constant, Node

# The opset of the zoo's graphs. Files are in format 8, which every engine that knows the opset reads.
OPSET, FORMAT = 18, 8

# A right answer lies within absolute + relative * |expected|. `sums` is for what adds up products or many elements. float32 allows
# approximations of exp or tanh and other orders of a sum; most of what float16 rounds is beyond it. float16 allows four units in the
# last place, and in sums an accumulator that is float16 itself. An engine that runs a graph in another type than the graph's (which
# has to be read back) is held against the row of that type: inputs are the same numbers in all of them.
TOLERANCES = {
    "single": {
        "float64": {"absolute": 1e-5, "relative": 1e-4},
        "float32": {"absolute": 2e-5, "relative": 2e-4},
        "float16": {"absolute": 4e-3, "relative": 4e-3},
        "bfloat16": {"absolute": 3e-2, "relative": 3e-2},
    },
    "sums": {
        "float64": {"absolute": 1e-5, "relative": 1e-4},
        "float32": {"absolute": 1e-4, "relative": 2e-4},
        "float16": {"absolute": 3e-2, "relative": 1e-2},
        "bfloat16": {"absolute": 2e-1, "relative": 5e-2},
    },
}
EXACT = {"absolute": 0.0, "relative": 0.0}


def attribute(value: Any) -> Any:
    return numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value


def widened(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float64) if is_float(array.dtype) else array


def is_float(dtype: np.dtype) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"


def in_float64(node: Node) -> Node:
    inputs = [
        Constant(widened(i.array)) if isinstance(i, Constant) else None if i is None else widened(i)
        for i in node.inputs
    ]
    attributes = {name: widened(a) if isinstance(a, np.ndarray) else a for name, a in node.attributes.items()}
    return Node(inputs, attributes, node.outputs, domain=node.domain, opset=node.opset)


def feeds(node: Node) -> dict[str, np.ndarray]:
    return {f"x{i}": np.asarray(value) for i, value in enumerate(node.inputs) if not isinstance(value, Constant | None)}


def port(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def opset_of(node: Node) -> int:
    return node.opset or OPSET


def model(operator: str, node: Node, outputs: dict[str, np.ndarray] | None) -> onnx.ModelProto:
    """Without outputs, those that the evaluator needs: names alone."""
    names = ["" if value is None else f"x{i}" for i, value in enumerate(node.inputs)]
    made = [f"y{i}" for i in range(node.outputs)]
    attributes = {name: attribute(value) for name, value in node.attributes.items()}
    graph = helper.make_graph(
        [helper.make_node(operator, names, made, domain=node.domain, **attributes)],
        "ladder",
        [port(name, array) for name, array in feeds(node).items()],
        [port(name, outputs[name]) for name in made] if outputs else [onnx.ValueInfoProto(name=name) for name in made],
        [
            numpy_helper.from_array(value.array, f"x{i}")
            for i, value in enumerate(node.inputs)
            if isinstance(value, Constant)
        ],
    )
    opsets = [helper.make_opsetid("", opset_of(node))] + ([helper.make_opsetid(node.domain, 1)] if node.domain else [])
    # int4 came with the tenth format.
    return helper.make_model(
        graph, opset_imports=opsets, ir_version=10 if node.opset > 18 else FORMAT, producer_name=""
    )


def evaluated(operator: str, node: Node) -> list[np.ndarray]:
    with np.errstate(all="ignore"):
        answers = ReferenceEvaluator(model(operator, node, None)).run(None, feeds(node))
    return [np.asarray(answer) for answer in answers]


def types_out(operator: str, node: Node) -> list[str]:
    """The types of the outputs, by the definition of the operator."""
    found = onnx.shape_inference.infer_shapes(model(operator, node, None), strict_mode=True).graph.output
    return [helper.tensor_dtype_to_np_dtype(output.type.tensor_type.elem_type).name for output in found]


def expected(operator: str, node: Node) -> list[np.ndarray]:
    if node.expected is not None:
        return [np.asarray(array) for array in node.expected]
    answers = evaluated(operator, node if node.native else in_float64(node))
    return [answer.astype(kind) for answer, kind in zip(answers, types_out(operator, node), strict=True)]


def tolerance(node: Node, dtype: np.dtype) -> dict[str, float]:
    if node.within:
        return {"absolute": node.within, "relative": 0.0}
    if not is_float(dtype):
        return EXACT | {"absolute": 1.0} if node.rounded else EXACT
    return TOLERANCES["sums" if node.sums else "single"][dtype.name]


def within(got: np.ndarray, wanted: np.ndarray, limits: dict[str, float]) -> bool:
    got, wanted = np.asarray(got), np.asarray(wanted)
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    if wanted.dtype == bool:
        return bool((got == wanted).all())
    got, wanted = got.astype(np.float64), wanted.astype(np.float64)
    return bool(np.isclose(got, wanted, atol=limits["absolute"], rtol=limits["relative"], equal_nan=True).all())


def agree(case: Case, got: list[np.ndarray], wanted: list[np.ndarray]) -> bool:
    return len(got) >= len(wanted) and all(within(g, w, tolerance(case.node, w.dtype)) for g, w in zip(got, wanted))
