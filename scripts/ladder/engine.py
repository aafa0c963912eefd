"""Cases held against ONNX Runtime, which other people wrote."""

import numpy as np
import onnx
from onnx import TensorProto

from .graph import agree, expected, feeds, model
from .rules import Wrong, check_parts
from .values import Case, Node


def other_answer(operator: str, node: Node) -> list[np.ndarray]:
    """Of a node whose outputs nobody knows yet."""
    made = model(operator, node, None)
    return other_answers(onnx.shape_inference.infer_shapes(made), feeds(node), False)


def other_answers(made: onnx.ModelProto, inputs: dict[str, np.ndarray], optimized: bool) -> list[np.ndarray]:
    import onnxruntime  # Nothing but this needs it.

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(made.SerializeToString(), options, providers=["CPUExecutionProvider"])
    if any(array.dtype.name == "bfloat16" for array in inputs.values()):
        # NumPy's arrays of this type are strange to it.
        bits = {name: array.view(np.uint16) for name, array in inputs.items()}
        fed = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(b, TensorProto.BFLOAT16)
            for name, b in bits.items()
        }
        return [value.numpy() for value in session.run_with_ort_values(None, fed)]
    return session.run(None, inputs)


def answer_of(case: Case, wanted: list[np.ndarray], optimized: bool) -> str:
    """What is wrong with its answer; nothing, mostly."""
    made = model(case.operator, case.node, {f"y{i}": array for i, array in enumerate(wanted)})
    answers = other_answers(made, feeds(case.node), optimized)
    if not agree(case, answers, wanted):
        return f"ONNX Runtime says {answers}, not {wanted}"
    # The evaluator tried this where it knows the operator.
    if case.node.expected is not None and not case.node.within:
        try:
            check_parts(case, wanted, other_answer)
        except Wrong as wrong:
            return str(wrong)
    return ""


def compare(cases: list[Case]) -> int:
    """Prints what is refused and what is answered otherwise, and returns how many of the latter there are."""
    counts = {"refused": 0, "otherwise": 0}
    for case in cases:
        wanted = expected(case.operator, case.node)
        try:
            found = answer_of(case, wanted, False) or answer_of(case, wanted, True)
            kind = "otherwise" if found else ""
        except Exception as error:  # Every refusal is one, whatever its class.
            found, kind = str(error).strip().splitlines()[0], "refused"
        if kind:
            counts[kind] += 1
            print(f"{case.name}: {kind}: {found}")
    print(f"{len(cases)} cases, {counts['refused']} refused, {counts['otherwise']} otherwise")
    return counts["otherwise"]
