"""The rules that no case breaks: an engine that does less than the operator asks gives another answer."""

from collections.abc import Callable, Iterator

import numpy as np
from onnx import defs

from .graph import agree, evaluated, feeds, opset_of, tolerance, within
from .values import Case, Node

# They hand on what they get, and a part of that is all that can be asked.
HANDS_ON = {"Identity", "Dropout"}
# A shape that the weights have anyway, or what the evaluator derives.
REPEATS = {"kernel_shape", "hidden_size", "num_outputs"}
# Said though it is the default: exporters say it, or the inference of shapes forgets it.
SAID = {("STFT", "onesided"), ("STFT", "frame_length"), ("MatMulNBits", "bits"), ("MeanVarianceNormalization", "axes")}


class Wrong(Exception):
    """A case that tells too little, or contradicts itself."""


def check(case: Case, wanted: list[np.ndarray]) -> None:
    if not wanted[0].any():
        raise Wrong("the answer is zero")
    for array in wanted:
        check_values(case, array)
    if case.node.expected is None:
        check_parts(case, wanted, evaluated)
        if not agree(case, evaluated(case.operator, case.node), wanted):
            raise Wrong(f"in its own types the evaluator says {evaluated(case.operator, case.node)}, not {wanted}")


def check_values(case: Case, wanted: np.ndarray) -> None:
    if wanted.size == 0:
        raise Wrong("an output has no element")
    if wanted.size > 2 and case.operator != "ConstantOfShape" and not case.node.within and len(np.unique(wanted)) == 1:
        raise Wrong(f"an output is {wanted.flat[0]} alone")
    limits = {name: 10 * limit for name, limit in tolerance(case.node, wanted.dtype).items()}
    same = any(within(array, wanted, limits) for array in feeds(case.node).values() if array.dtype == wanted.dtype)
    if same and case.operator not in HANDS_ON and not case.node.within:
        raise Wrong("an output is one of the inputs")


def with_less(case: Case) -> Iterator[tuple[str, Node]]:
    """The node without each of its attributes, and without each input that may be left out."""
    whole = case.node
    for name in sorted(whole.attributes.keys() - REPEATS):
        if (case.operator, name) not in SAID:
            fewer = {other: value for other, value in whole.attributes.items() if other != name}
            yield name, Node(whole.inputs, fewer, whole.outputs, opset=whole.opset, domain=whole.domain)
    if whole.domain or case.operator in HANDS_ON:
        return
    optional = defs.OpSchema.FormalParameterOption.Optional
    ports = list(defs.get_schema(case.operator, opset_of(whole), "").inputs)
    for place, (port, given) in enumerate(zip(ports, whole.inputs)):
        if port.option == optional and given is not None and (case.operator, port.name) not in SAID:
            fewer = [None if i == place else value for i, value in enumerate(whole.inputs)]
            while fewer and fewer[-1] is None:
                fewer.pop()
            yield port.name, Node(fewer, whole.attributes, whole.outputs, opset=whole.opset, domain=whole.domain)


def check_parts(case: Case, wanted: list[np.ndarray], answer: Callable[[str, Node], list[np.ndarray]]) -> None:
    for name, node in with_less(case):
        try:
            answers = answer(case.operator, node)
        except Exception:  # engines have no error of their own for what they cannot do without
            continue
        if agree(case, answers, wanted):
            raise Wrong(f"the answer is the same without {name}")
