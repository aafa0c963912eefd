"""The refilled graph, run at several sizes: shapes as declared, outputs finite and not all the same."""

import os
import time

import numpy as np
import onnxruntime as ort

from .spec import TEST, TRACE, mentions
from .weights import parameters_of, refill

# From here on no second copy of the weights is laid out for speed: only shapes and health are looked at.
LARGE_PARAMETERS = 500_000_000


def session_of(path, large):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if large:
        options.enable_cpu_mem_arena = False  # which would double itself as it grows
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.disable_prepacking", "1")
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def illness(name, array):
    """A reason to reject an output, or None."""
    if array.size == 0:
        return f"{name} is empty"
    if array.dtype.kind != "f":
        return None
    if not np.isfinite(array).all():
        return f"{name} is not finite"
    peak = float(np.abs(array).max())
    if peak < 1e-30:
        return f"{name} vanished ({peak:.3g})"
    if array.size > 1 and float(array.max()) == float(array.min()):
        return f"{name} is constant"
    return None


def plans(inputs, spec, fixed):
    """The lengths of every axis in each run, and the axes that are free."""
    trace, test = {**TRACE, **spec.trace}, {**TEST, **spec.test}
    dims = [d for i in inputs for d in i.dims]
    named = [axis for axis in test if any(mentions(d, axis) for d in dims)]
    free = [axis for axis in named if not any(mentions(d, axis) for d in fixed)]

    def lengths(batch, which):
        return {**trace, **{axis: batch if axis == "batch" else test[axis][which] for axis in free}}

    runs = [lengths(1, 0)]
    if "batch" in free:
        runs.append(lengths(2, 0))
    if any(axis != "batch" for axis in free):
        runs.append(lengths(2, 1))
    return runs, named


def verify(proto, inputs, spec, fixed, folder):
    path = os.path.join(folder, "model.onnx")
    began = time.time()
    refill(proto, path)
    refilled = time.time()
    session = session_of(path, parameters_of(proto) > LARGE_PARAMETERS)
    loaded = time.time()
    present = {i.name for i in proto.graph.input}
    wanted, named = plans(inputs, spec, fixed)
    runs = []
    for axes in wanted:
        rng = np.random.default_rng(7)
        feeds = {i.name: i.sample(axes, rng).numpy() for i in inputs if i.name in present}
        started = time.time()
        results = session.run(None, feeds)
        taken = time.time() - started
        for output, array in zip(proto.graph.output, results):
            problem = illness(output.name, array)
            if problem:
                raise ValueError(f"{problem} at {axes}")
        runs.append({"axes": {axis: axes[axis] for axis in named}, "ms": round(taken * 1000, 1)})
    first = np.asarray(results[0])
    shapes = {o.name: list(a.shape) for o, a in zip(proto.graph.output, results)}
    return {
        "runs": runs,
        "finite": True,
        "first_output_mean_abs": float(np.abs(first).mean()) if first.dtype.kind == "f" else None,
        "refill_s": round(refilled - began, 2),
        "load_s": round(loaded - refilled, 2),
        "output_shapes_last_run": dict(list(shapes.items())[:6]),
    }
