"""Weights as rules: taken out of a graph, and put back.

A stripped initializer keeps name, dims and data_type, has data_location DEFAULT, no payload, and one external_data entry:
key "gen", value "fill:V" or "normal:MEAN:STD". "fill" sets every element to V. "normal" computes element i, all arithmetic
modulo 2**64, as

  seed  = FNV-1a-64(tensor name, utf-8)
  x     = seed + (i + 1) * 0x9E3779B97F4A7C15          (splitmix64)
  x     = (x ^ x >> 30) * 0xBF58476D1CE4E5B9
  x     = (x ^ x >> 27) * 0x94D049BB133111EB
  x     =  x ^ x >> 31
  sum   = the four 16-bit quarters of x, added          (0 .. 262140)
  value = MEAN + STD * (float32(sum) - 131070) / 37837.227   (float32)

which has the wanted mean and deviation and never leaves MEAN +- 3.4642 STD.
"""

import os

import numpy as np
import onnx
import onnx_ir as ir
import zstandard
from onnx import TensorProto

KEEP_BYTES = 256
# No number that stands in for a weight is further from 0.
STAND_IN = 0.15
FLOATS = {TensorProto.FLOAT: np.float32, TensorProto.FLOAT16: np.float16, TensorProto.DOUBLE: np.float64}
IR_FLOATS = (ir.DataType.FLOAT, ir.DataType.FLOAT16, ir.DataType.DOUBLE)


def compressed_size(array):
    return len(zstandard.ZstdCompressor(level=3).compress(array.tobytes()))


def rule_for(array, is_variance, is_weight):
    """The rule of a float tensor, or None to keep it as it is."""
    flat = array.reshape(-1)
    low, high = float(flat.min()), float(flat.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    if low == high:
        return f"fill:{low!r}"
    if max(-low, high) > 1e4:
        return None
    # Masks, index tables and one-hot rows pack well; weights do not.
    if not is_weight and array.nbytes <= 1 << 20 and compressed_size(array) <= min(1500, array.nbytes // 2):
        return None
    if flat.size > 1 << 22:
        flat = flat[:: flat.size // (1 << 21)]
    mean, deviation = float(flat.mean(dtype=np.float64)), float(flat.std(dtype=np.float64))
    if is_variance or low > 0 or high < 0:  # the sign stays
        deviation = min(deviation, abs(mean) / 6)
    return f"normal:{mean:.6g}:{deviation:.6g}"


def rule_by_name(name, dims):
    """The rule of a weight that was never made: as classes initialize, plus what `prepare` adds."""
    is_scale = len(dims) <= 1 and name.endswith("weight")
    return "normal:1:0.02" if is_scale else "normal:0:0.02"


def rule_of_stand_in(array):
    """The rule of what the exporter made of a weight that was never made, such as its transpose; or None. Its one number is near 0,
    as `stand_in` draws them, or near 1 where the class adds 1 to a scale."""
    number = float(array.reshape(-1)[0]) if array.size < 1 << 16 else float(array[(0,) * array.ndim])
    is_one_number = not any(array.strides) or (array.size < 1 << 24 and (array == number).all())
    mean = round(number)
    if not is_one_number or number == mean or mean not in (0, 1) or abs(number - mean) > STAND_IN:
        return None
    return f"normal:{mean}:0.02"


def is_small_constant(array):
    return array.ndim == 1 or array.nbytes <= 1 << 15 or compressed_size(array) < 1 << 14


def strip(model, keep_constants, weightless):
    """A ModelProto whose large float initializers are rules, and the tensors that were taken out. The model stays whole."""
    variances = {n.inputs[4].name for n in model.graph if n.op_type == "BatchNormalization" and n.domain == ""}
    rules, taken = {}, {}
    for name, value in model.graph.initializers.items():
        tensor = value.const_value
        if tensor.dtype not in IR_FLOATS or tensor.nbytes <= KEEP_BYTES:
            continue
        is_weight = "." in name
        rule = None
        if weightless:
            rule = rule_by_name(name, tensor.shape) if is_weight else rule_of_stand_in(tensor.numpy())
        if rule is None:
            array = tensor.numpy()
            rule = rule_for(array, name in variances, is_weight)
            if keep_constants and not is_weight and is_small_constant(array):
                rule = None
        if rule is not None:
            rules[name] = (rule, [int(d) for d in tensor.shape], int(tensor.dtype))
            taken[name] = tensor
            value.const_value = ir.Tensor(np.zeros(0, np.float32), name=name)
    proto = ir.serde.serialize_model(model)
    for name, tensor in taken.items():
        model.graph.initializers[name].const_value = tensor
    for tensor in proto.graph.initializer:
        del tensor.metadata_props[:]
        tensor.ClearField("doc_string")
        if tensor.name in rules:
            name, (rule, dims, number) = tensor.name, rules[tensor.name]
            tensor.Clear()
            tensor.name, tensor.data_type = name, number
            tensor.dims.extend(dims)
            tensor.data_location = TensorProto.DEFAULT
            entry = tensor.external_data.add()
            entry.key, entry.value = "gen", rule
    clean(proto)
    return proto, taken


def clean(proto):
    """Drops documentation, metadata, and initializers and inputs that nothing uses."""
    used = {o.name for o in proto.graph.output}

    def bare(item):
        del item.metadata_props[:]
        item.ClearField("doc_string")

    def visit(graph):
        for node in graph.node:
            bare(node)
            used.update(node.input)
            for attribute in node.attribute:
                attribute.ClearField("doc_string")
                for sub in [attribute.g, *attribute.graphs]:
                    used.update(o.name for o in sub.output)
                    visit(sub)

    bare(proto)
    bare(proto.graph)
    visit(proto.graph)
    for function in proto.functions:
        bare(function)
        for node in function.node:
            bare(node)
    for value in [*proto.graph.input, *proto.graph.output, *proto.graph.value_info]:
        bare(value)
    weights = {t.name for t in proto.graph.initializer}
    remove(proto.graph.value_info, lambda value: value.name in weights)  # an initializer states its own shape
    remove(proto.graph.initializer, lambda tensor: tensor.name not in used)
    remove(proto.graph.input, lambda value: value.name not in used)


def remove(items, condition):
    for index in reversed(range(len(items))):
        if condition(items[index]):
            del items[index]


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def generate(name, rule, count, dtype):
    kind, *numbers = rule.split(":")
    if kind == "fill":
        return np.full(count, float(numbers[0]), dtype)
    mean, deviation = np.float32(numbers[0]), np.float32(numbers[1])
    out = np.empty(count, dtype)
    seed, golden, block = np.uint64(fnv1a(name.encode())), np.uint64(0x9E3779B97F4A7C15), 1 << 16
    with np.errstate(over="ignore"):
        for start in range(0, count, block):
            stop = min(count, start + block)
            x = seed + np.arange(start + 1, stop + 1, dtype=np.uint64) * golden
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
            total = x.view(np.uint16).reshape(-1, 4).sum(axis=1, dtype=np.uint32)
            z = (total.astype(np.float32) - np.float32(131070)) / np.float32(37837.227)
            out[start:stop] = mean + deviation * z
    return out


def by_rule(tensor):
    count = int(np.prod(list(tensor.dims), dtype=np.int64))
    return generate(tensor.name, tensor.external_data[0].value, count, FLOATS[tensor.data_type])


def refill(proto, path, values=by_rule):
    """Writes a model that runs: path, and path.data with the values of every stripped initializer."""
    runnable = onnx.ModelProto()
    runnable.CopyFrom(proto)
    offset = 0
    with open(path + ".data", "wb") as data:
        for tensor in runnable.graph.initializer:
            if not is_stripped(tensor):
                continue
            array = values(tensor)
            del tensor.external_data[:]
            tensor.data_location = TensorProto.EXTERNAL
            where = {"location": os.path.basename(path) + ".data", "offset": offset, "length": array.nbytes}
            for key, value in where.items():
                entry = tensor.external_data.add()
                entry.key, entry.value = key, str(value)
            padding = -array.nbytes % 4096
            data.write(np.ascontiguousarray(array).data)
            data.write(b"\0" * padding)
            offset += array.nbytes + padding
    with open(path, "wb") as file:
        file.write(runnable.SerializeToString())


def is_stripped(tensor):
    return bool(tensor.external_data) and tensor.external_data[0].key == "gen"


def parameters_of(proto):
    return sum(int(np.prod(list(t.dims), dtype=np.int64)) for t in proto.graph.initializer if t.data_type in FLOATS)
