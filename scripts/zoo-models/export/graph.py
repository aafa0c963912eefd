"""From a module to an ONNX graph whose dimensions carry the names of the specification."""

import contextlib
import os
import re
import tempfile

import onnx
import onnx_ir as ir
import torch
from torch._subclasses import FakeTensorMode
from onnxscript.rewriter import _matcher
from torch.export import Dim
from torch.utils.flop_counter import FlopCounterMode

OPSET = 18
SYMBOL = re.compile(r"\b[su]\d+\b")


def count_flops(module, axes, rng, weightless):
    """Floating-point operations of one pass (matrix products, convolutions, attention), and how many outputs it gives. Nothing is
    computed where there are no weights to compute with."""
    inputs = [i.sample(axes, rng) for i in module.inputs]
    shapes_alone = FakeTensorMode(allow_non_fake_inputs=True) if weightless else contextlib.nullcontext()
    with torch.no_grad(), shapes_alone, FlopCounterMode(display=False) as counter:
        results = module(*inputs)
    return counter.get_total_flops(), len(results)


@contextlib.contextmanager
def first_node_first():
    """The exporter's rewriter tries a pattern that ends in several nodes on every pair of nodes. Where the first node does not match,
    no pair does: the graph comes out the same, in a third of the time."""
    matcher = _matcher.SimplePatternMatcher
    match = matcher.match

    def quick(self, model, graph, node, *, verbose=0, remove_nodes=True, tracer=None):
        if not self.pattern.has_single_output_node:
            self._tracer = tracer
            self._graph = graph if isinstance(graph, ir.Graph) else graph.graph
            self._init_match(verbose)
            if not self._match_node(self.pattern.output_nodes[0], node):
                return self._match
        return match(self, model, graph, node, verbose=verbose, remove_nodes=remove_nodes, tracer=tracer)

    matcher.match = quick
    try:
        yield
    finally:
        matcher.match = match


def export(module, names, axes, rng, spec):
    tensors = tuple(i.sample(axes, rng) for i in module.inputs)
    given = [i.name for i in module.inputs]
    with torch.no_grad(), first_node_first():
        if spec.tracer == "torchscript":
            return traced(module, tensors, given, names)
        dynamic = tuple({n: Dim.AUTO for n, d in enumerate(i.dims) if not isinstance(d, int)} for i in module.inputs)
        program = torch.onnx.export(
            module,
            tensors,
            input_names=given,
            output_names=names,
            dynamic_shapes=(dynamic,),
            dynamo=True,
            opset_version=OPSET,
            verbose=False,
            optimize=spec.optimize,
        )
    return program.model


def traced(module, tensors, given, names):
    """The older way: what one run did is recorded. For classes whose code looks at values."""
    dynamic = {i.name: {n: d for n, d in enumerate(i.dims) if not isinstance(d, int)} for i in module.inputs}
    dynamic = {name: {n: re.sub(r"\W", "_", d) for n, d in dims.items()} for name, dims in dynamic.items() if dims}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        torch.onnx.export(
            module,
            tensors,
            path,
            input_names=given,
            output_names=names,
            dynamic_axes=dynamic,
            dynamo=False,
            opset_version=OPSET,
        )
        model = onnx.load(path)
    for value in model.graph.output:  # what the recording calls its sizes says nothing
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.ClearField("dim_param")
    return ir.serde.deserialize_model(model)


def rename_dims(proto, inputs):
    """Gives the exporter's symbols (s10, s21, ...) the names of the specification; returns the axes that came out fixed."""
    wanted = {i.name: i.dims for i in inputs}
    names, fixed = {}, set()
    for value in proto.graph.input:
        for want, dim in zip(wanted[value.name], value.type.tensor_type.shape.dim):
            if isinstance(want, int):
                continue
            if not dim.dim_param:
                fixed.add(want)
            elif SYMBOL.fullmatch(dim.dim_param):
                names.setdefault(dim.dim_param, want)

    def of_symbol(match):
        name = names.get(match[0], match[0])
        return f"({name})" if "+" in name else name

    def renamed(text):
        return names[text] if text in names else SYMBOL.sub(of_symbol, text)

    for value in [*proto.graph.input, *proto.graph.output, *proto.graph.value_info]:
        if value.type.HasField("tensor_type"):
            for dim in value.type.tensor_type.shape.dim:
                if dim.dim_param:
                    dim.dim_param = renamed(dim.dim_param)
    for value in proto.graph.input:
        for want, dim in zip(wanted[value.name], value.type.tensor_type.shape.dim):
            if dim.dim_param and not isinstance(want, int):
                dim.dim_param = want
    return sorted(fixed)
