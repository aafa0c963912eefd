"""Reductions, products of matrices, normalizations and what ranks or weighs elements."""

import numpy as np

from .values import DOUBLE, FLOAT, HALF, INT32, INT64, INT8, UINT8, Constant, Node, Table, Values, constant, node


def reductions(table: Table) -> None:
    floats = [FLOAT, HALF]
    settings = {
        "ReduceL1": (floats, -2),
        "ReduceL2": (floats, -2),
        "ReduceLogSum": (floats, 0.25),
        "ReduceLogSumExp": (floats, -2),
        "ReduceMax": ([FLOAT, INT64, HALF], -2),
        "ReduceMean": (floats, -2),
        "ReduceMin": ([FLOAT, INT64, HALF], -2),
        "ReduceProd": ([FLOAT, INT32], 0.25),
        "ReduceSum": ([FLOAT, INT64, HALF], -2),
        "ReduceSumSquare": (floats, -2),
    }
    for operator, (types, low) in settings.items():
        table.add(
            operator,
            types,
            lambda v, low=low: node(v(2, 3, 2, low=low), constant([1]), keepdims=0, sums=True),
            negative_axes=lambda v, low=low: node(v(2, 3, 1, 2, low=low), constant([-1, 0]), sums=True),
            all=lambda v, low=low: node(v(2, 3, low=low), keepdims=0, sums=True),
        )
    for operator in ("ArgMax", "ArgMin"):
        table.add(
            operator,
            [FLOAT, INT32, HALF],
            lambda v: node(v(2, 4, 3), axis=1, keepdims=0),
            last_of_equals=lambda v: node(v.of([[3, -2, 3, 1, -2], [-5, 4, 4, -5, 0]]), axis=-1, select_last_index=1),
        )
    table.add(
        "CumSum",
        [FLOAT, INT64, INT32],
        lambda v: node(v(2, 4), constant(1), sums=True),
        exclusive=lambda v: node(v(3, 2), constant(-2), exclusive=1, sums=True),
        backwards=lambda v: node(v(1, 5), constant(-1), reverse=1, sums=True),
    )
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        table.add(
            operator,
            floats,
            lambda v: node(v(2, 4)),
            middle_axis=lambda v: node(v(2, 3, 2, high=4), axis=1),
            negative_axis=lambda v: node(v(3, 1, 2), axis=-3),
        )


def products(table: Table) -> None:
    floats = [FLOAT, HALF]
    table.add(
        "MatMul",
        [FLOAT, HALF, INT32],
        lambda v: node(v(2, 3), v(3, 4), sums=True),
        batch_broadcast=lambda v: node(v(2, 1, 2, 3), v(3, 3, 1), sums=True),
        vector=lambda v: node(v(5), v(2, 5, 3), sums=True),
        weights=lambda v: node(v(1, 3, 5), v.weights(5, 2), sums=True),
    )
    table.add(
        "Gemm",
        floats,
        lambda v: node(v(2, 3), v.weights(3, 4), v.weights(4), sums=True),
        turned_and_scaled=lambda v: node(
            v(3, 2), v.weights(4, 3), v.weights(2, 1), alpha=0.5, beta=1.5, transA=1, transB=1, sums=True
        ),
        no_bias=lambda v: node(v(1, 5), v.weights(1, 5), transB=1, sums=True),
    )
    table.add(
        "Einsum",
        floats,
        lambda v: node(v(2, 3), v(3, 4), equation="ij,jk->ik", sums=True),
        heads=lambda v: node(v(1, 2, 3, 2), v(1, 4, 3, 2), equation="bqhd,bkhd->bhqk", sums=True),
        diagonal=lambda v: node(v(3, 3), equation="ii->i"),
        row_sums=lambda v: node(v(2, 1, 3), equation="...j->...", sums=True),
    )
    table.add(
        "Det", [FLOAT, DOUBLE], lambda v: node(v(3, 3), sums=True), stack=lambda v: node(v(2, 1, 2, 2), sums=True)
    )


def dequantized(x: np.ndarray, scale: float | list[float], zero: int | list[int], **attributes: int) -> Node:
    # The evaluator has this operator from opset 19 on alone.
    y = (x.astype(np.float64) - np.array(zero)) * np.array(scale)
    zeros = [] if x.dtype == INT32 else [constant(zero, x.dtype.name)]
    return node(x, constant(scale, FLOAT), *zeros, expected=[y.astype(FLOAT)], **attributes)


def integers(table: Table) -> None:
    def zero(kind: str) -> Constant:
        return constant(120 if kind == UINT8 else -3, kind)

    table.add(
        "MatMulInteger",
        [UINT8, INT8],
        lambda v: node(v(2, 3), v.weights(3, 4), zero(v.type), zero(v.type)),
        by_column=lambda v: node(v(1, 5), v.weights(5, 2, dtype=INT8), constant(131, UINT8), constant([2, -7], INT8)),
    )
    table.add(
        "ConvInteger",
        [UINT8, INT8],
        lambda v: node(v(1, 2, 4, 4), v.weights(3, 2, 2, 2), zero(v.type), zero(v.type), kernel_shape=[2, 2]),
        padded=lambda v: node(
            v(1, 1, 3, 5),
            v.weights(2, 1, 3, 2),
            constant(5, UINT8),
            pads=[1, 0, 0, 1],
            strides=[2, 1],
            kernel_shape=[3, 2],
        ),
    )
    # Inputs over the scale are odd quarters, or none near a half: no tie.
    table.put(
        "QuantizeLinear", "", UINT8, lambda v: node(v(2, 4, dtype=FLOAT), constant(0.0625, FLOAT), constant(40, UINT8))
    )
    table.put(
        "QuantizeLinear", "", INT8, lambda v: node(v(2, 4, dtype=FLOAT), constant(0.0625, FLOAT), constant(-9, INT8))
    )
    table.put(
        "QuantizeLinear",
        "by_channel",
        INT8,
        lambda v: node(
            v(1, 2, 3, dtype=FLOAT), constant([0.0625, 0.125, 0.25], FLOAT), constant([3, 0, -7], INT8), axis=-1
        ),
    )
    table.put(
        "QuantizeLinear",
        "saturates",
        UINT8,
        lambda v: node(v(1, 6, dtype=FLOAT), constant(0.0078125, FLOAT), constant(100, UINT8)),
    )
    table.put("DequantizeLinear", "", UINT8, lambda v: dequantized(v(2, 4), 0.0625, 40))
    table.put("DequantizeLinear", "", INT8, lambda v: dequantized(v(2, 4), 0.0625, -9))
    table.put("DequantizeLinear", "", INT32, lambda v: dequantized(v(5), 0.0625, 0))
    table.put(
        "DequantizeLinear",
        "by_channel",
        INT8,
        lambda v: dequantized(v(1, 2, 3), [0.0625, 0.125, 0.25], [3, 0, -7], axis=-1),
    )
    table.add(
        "DynamicQuantizeLinear",
        [FLOAT],
        lambda v: node(v(2, 4), outputs=3, rounded=True, native=True),
        positive=lambda v: node(v(1, 5, low=0.5), outputs=3, rounded=True, native=True),
    )


def quantized_layers(table: Table) -> None:
    def scale(number: float) -> Constant:
        return constant(number, FLOAT)

    def zeros(kind: str) -> tuple[Constant, Constant, Constant]:
        return tuple(constant(z, kind) for z in ((7, 11, 90) if kind == UINT8 else (-3, 0, 5)))

    def product(v: Values) -> Node:
        a, b, y = zeros(v.type)
        return node(v(2, 3), scale(0.0625), a, v.weights(3, 4), scale(0.125), b, scale(0.046875), y, rounded=True)

    def image(v: Values) -> Node:
        x, w, y = zeros(v.type)
        bias = constant([30, -20, 45], INT32)
        return node(
            v(1, 2, 4, 4),
            scale(0.0625),
            x,
            v.weights(3, 2, 2, 2),
            scale(0.125),
            w,
            scale(0.09375),
            y,
            bias,
            kernel_shape=[2, 2],
            rounded=True,
        )

    def by_channel(v: Values) -> Node:
        scales = constant([0.125, 0.0625], FLOAT)
        weights, zero = v.weights(2, 1, 3, 1, dtype=INT8), constant([0, 0], INT8)
        return node(
            v(1, 2, 5, 1),
            scale(0.0625),
            constant(9, UINT8),
            weights,
            scales,
            zero,
            scale(0.046875),
            constant(80, UINT8),
            group=2,
            pads=[1, 0, 2, 0],
            kernel_shape=[3, 1],
            rounded=True,
        )

    table.add(
        "QLinearMatMul",
        [UINT8, INT8],
        product,
        mixed=lambda v: node(
            v(1, 5),
            scale(0.0625),
            constant(6, UINT8),
            v.weights(5, 3, dtype=INT8),
            scale(0.125),
            constant(0, INT8),
            scale(0.046875),
            constant(100, UINT8),
            rounded=True,
        ),
    )
    table.add("QLinearConv", [UINT8, INT8], image, by_channel=by_channel)


def blocks(table: Table) -> None:
    """Matrices in 4 bits: what ONNX Runtime's operator reads, and what ONNX itself has since opset 21."""

    def packed(quarters: np.ndarray) -> np.ndarray:
        """Two numbers of 4 bits in a byte, the first one below."""
        return (quarters[..., 0::2] | quarters[..., 1::2] << 4).astype(np.uint8)

    def by_output(v: Values, inputs: int, outputs: int, size: int, with_zeros: bool) -> Node:
        blocks = -(-inputs // size)
        x = v(2, inputs, low=-1, high=1)
        quarters = v(outputs, blocks, size, low=0.125, high=1.875, dtype=INT32)
        scales = v(outputs, blocks, low=0.0625, high=0.75)
        zeros = (
            v(outputs, blocks + blocks % 2, low=0.5, high=1.375, dtype=INT32)
            if with_zeros
            else np.full((outputs, blocks), 8)
        )
        weights = (quarters - zeros[:, :blocks, None]) * scales[:, :, None].astype(np.float64)
        weights = weights.reshape(outputs, blocks * size)[:, :inputs]
        y = (x.astype(np.float64) @ weights.T).astype(x.dtype)
        more = [Constant(packed(zeros))] if with_zeros else []
        return node(
            x,
            Constant(packed(quarters)),
            Constant(scales),
            *more,
            domain="com.microsoft",
            K=inputs,
            N=outputs,
            bits=4,
            block_size=size,
            sums=True,
            expected=[y],
        )

    def int4(v: Values) -> Node:
        # As the zoo stores weights: constant int4, and here the scales are what is fed.
        weights = v(4, 6, low=-0.875, high=0.875, dtype=INT32)
        scales = v(2, 6, low=0.25, dtype=FLOAT)
        y = (weights * np.repeat(scales, 2, axis=0)).astype(FLOAT)
        return node(Constant(weights.astype("int4")), scales, axis=0, block_size=2, opset=21, expected=[y])

    table.put("DequantizeLinear", "blocks", "int4", int4)
    table.add(
        "MatMulNBits",
        [FLOAT, HALF],
        lambda v: by_output(v, 32, 4, 32, False),
        zero_points=lambda v: by_output(v, 40, 3, 16, True),
    )


def centred(x: np.ndarray, axes: list[int]) -> Node:
    # The evaluator has it as a function with constants in float32, which meets no other type: so only float32 is here.
    wide = x.astype(np.float64)
    mean, deviation = (of(wide, axis=tuple(axes), keepdims=True) for of in (np.mean, np.std))
    y = ((wide - mean) / (deviation + 1e-9)).astype(x.dtype)
    return node(x, axes=axes, sums=True, expected=[y])


def across(x: np.ndarray, size: int, alpha: float, beta: float, bias: float) -> Node:
    # The evaluator goes through as many channels as the batch has items, and adds nothing up in the others.
    squares, count = x.astype(np.float64) ** 2, x.shape[1]
    before, after = (size - 1) // 2, size // 2
    sums = [squares[:, max(0, c - before) : min(count, c + after + 1)].sum(axis=1) for c in range(count)]
    y = x / (bias + alpha / size * np.stack(sums, axis=1)) ** beta
    return node(x, size=size, alpha=alpha, beta=beta, bias=bias, sums=True, expected=[y.astype(x.dtype)])


def of_magnitudes(x: np.ndarray, axis: int) -> Node:
    # The evaluator adds up signed numbers.
    y = x.astype(np.float64) / np.abs(x.astype(np.float64)).sum(axis=axis, keepdims=True)
    return node(x, axis=axis, p=1, expected=[y.astype(x.dtype)])


def norms(table: Table) -> None:
    floats = [FLOAT, HALF]
    # A large epsilon, since an engine that forgets a small one would not be found.
    table.add(
        "LayerNormalization",
        floats,
        lambda v: node(v(2, 4), v.weights(4), v.weights(4), epsilon=0.25),
        two_axes=lambda v: node(v(2, 3, 2), v.weights(3, 2), v.weights(3, 2), axis=-2, epsilon=0.125),
        no_bias=lambda v: node(v(1, 1, 5), v.weights(5), epsilon=0.25),
    )
    table.add(
        "InstanceNormalization",
        floats,
        lambda v: node(v(1, 2, 2, 3), v.weights(2), v.weights(2), epsilon=0.25),
        one_line=lambda v: node(v(2, 3, 5), v.weights(3), v.weights(3), epsilon=0.125),
    )

    def batch(v: Values, *dims: int) -> Node:
        count = dims[1]
        return node(
            v(*dims), v.weights(count), v.weights(count), v.weights(count), v.weights(count, low=0.25), epsilon=0.25
        )

    table.add("BatchNormalization", floats, lambda v: batch(v, 1, 3, 2, 2), flat=lambda v: batch(v, 4, 3))
    table.add(
        "MeanVarianceNormalization",
        [FLOAT],
        lambda v: centred(v(2, 2, 2, 2), [0, 2, 3]),
        channels=lambda v: centred(v(1, 3, 1, 3), [1, 3]),
    )
    table.add(
        "LRN",
        floats,
        lambda v: across(v(1, 4, 2, 1), 3, 0.75, 0.5, 2.0),
        wide=lambda v: across(v(1, 6, 1, 2), 5, 1.5, 0.25, 0.5),
    )
    table.add(
        "LpNormalization", floats, lambda v: node(v(2, 3)), sums_of_magnitudes=lambda v: of_magnitudes(v(3, 1, 2), 0)
    )
    table.add("Dropout", floats, lambda v: node(v(2, 3)), ratio=lambda v: node(v(1, 5), constant(0.75, v.type)))


def losses(table: Table) -> None:
    floats = [FLOAT, HALF]
    for operator, low in {"SoftmaxCrossEntropyLoss": -2, "NegativeLogLikelihoodLoss": -2}.items():
        table.add(
            operator,
            floats,
            lambda v, low=low: node(v(3, 4, low=low), np.array([2, 0, 3])),
            each_ignored=lambda v, low=low: node(
                v(2, 3, 2, low=low),
                np.array([[2, 1], [0, 2]]),
                v.weights(3, low=0.25),
                reduction="none",
                ignore_index=1,
            ),
            weighted=lambda v, low=low: node(
                v(3, 4, low=low), np.array([1, 3, 0]), v.weights(4, low=0.25), reduction="sum"
            ),
        )


def add_to(table: Table) -> None:
    reductions(table)
    products(table)
    integers(table)
    quantized_layers(table)
    blocks(table)
    norms(table)
    losses(table)
