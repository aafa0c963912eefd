"""Convolutions, pools, recurrent layers, signals, boxes, and the one random operator of the zoo."""

import numpy as np

from .values import DOUBLE, FLOAT, HALF, INT32, INT64, UINT8, Constant, Node, Table, Values, constant, node

FLOATS = [FLOAT, HALF]


def two_groups(x: np.ndarray, weights: np.ndarray) -> Node:
    """Each half of the inputs for one output; the evaluator fails at groups."""
    y = np.zeros((1, 2, 3, 3))
    for channel, row, column in np.ndindex(x.shape[1:]):
        y[0, channel // 2, row : row + 2, column : column + 2] += (
            x[0, channel, row, column].astype(np.float64) * weights[channel, 0]
        )
    return node(x, Constant(weights), group=2, kernel_shape=[2, 2], sums=True, expected=[y.astype(x.dtype)])


def greatest_of_regions(x: np.ndarray, regions: list[list[int]], high: int, wide: int) -> Node:
    """Each region in `high` times `wide` parts, whose borders overlap where they do not fit; the evaluator has no MaxRoiPool."""
    y = np.zeros((len(regions), x.shape[1], high, wide))
    for place, (item, left, top, right, bottom) in enumerate(regions):
        part = x[item, :, top : bottom + 1, left : right + 1].astype(np.float64)
        height, width = part.shape[1:]
        for row, column in np.ndindex(high, wide):
            rows = slice(row * height // high, -(-(row + 1) * height // high))
            columns = slice(column * width // wide, -(-(column + 1) * width // wide))
            y[place, :, row, column] = part[:, rows, columns].max(axis=(1, 2))
    return node(x, np.array(regions, dtype=x.dtype), pooled_shape=[high, wide], expected=[y.astype(x.dtype)])


def lengths(x: np.ndarray, p: int) -> Node:
    """The evaluator has no GlobalLpPool."""
    axes = tuple(range(2, x.ndim))
    y = (np.abs(x.astype(np.float64)) ** p).sum(axis=axes, keepdims=True) ** (1 / p)
    return node(x, sums=True, expected=[y.astype(x.dtype)], **({} if p == 2 else {"p": p}))


def with_relu(v: Values) -> Node:
    """The evaluator knows no Relu within an RNN."""
    x, weights, again, bias = v(3, 2, 2), v(1, 3, 2), v(1, 3, 3, low=-1, high=1), v(1, 6)
    state, steps = np.zeros((2, 3)), []
    for step in x.astype(np.float64):
        state = np.maximum(step @ weights[0].T + state @ again[0].T + bias[0, :3] + bias[0, 3:], 0)
        steps.append(state)
    outputs = [np.array(steps)[:, None].astype(v.type), state[None].astype(v.type)]
    constants = [Constant(weights), Constant(again), Constant(bias)]
    return node(x, *constants, hidden_size=3, activations=["Relu"], outputs=2, sums=True, expected=outputs)


def convolutions(table: Table) -> None:
    def conv(v: Values, image: tuple[int, ...], weights: tuple[int, ...], bias: bool = True, **attributes) -> Node:
        kernel = list(weights[2:])
        more = [v.weights(weights[0])] if bias else []
        return node(v(*image), v.weights(*weights), *more, kernel_shape=kernel, sums=True, **attributes)

    table.add(
        "Conv",
        FLOATS,
        lambda v: conv(v, (1, 2, 4, 4), (3, 2, 3, 3), pads=[1, 1, 1, 1]),
        edge_types=2,
        dilated=lambda v: conv(v, (1, 1, 5, 5), (2, 1, 2, 2), bias=False, dilations=[2, 3]),
        uneven_pads=lambda v: conv(v, (1, 1, 3, 4), (2, 1, 2, 3), pads=[1, 0, 2, 1], strides=[1, 2]),
        depthwise=lambda v: conv(v, (2, 3, 3, 3), (3, 1, 2, 2), group=3, strides=[2, 1], pads=[0, 1, 0, 0]),
        groups=lambda v: conv(v, (1, 4, 3, 3), (2, 2, 2, 2), group=2),
        one_dimension=lambda v: conv(v, (1, 2, 7), (2, 2, 3), strides=[3], pads=[2, 0]),
        three_dimensions=lambda v: conv(v, (1, 1, 2, 3, 3), (2, 1, 2, 2, 1)),
        same_upper=lambda v: conv(v, (1, 1, 4, 5), (1, 1, 2, 2), auto_pad="SAME_UPPER", strides=[2, 2]),
    )

    def turned(v: Values, image: tuple[int, ...], weights: tuple[int, ...], outputs: int = 0, **attributes) -> Node:
        more = [v.weights(outputs)] if outputs else []
        return node(v(*image), v.weights(*weights), *more, kernel_shape=list(weights[2:]), sums=True, **attributes)

    table.add(
        "ConvTranspose",
        FLOATS,
        lambda v: turned(v, (1, 2, 3, 3), (2, 3, 2, 2), 3, strides=[2, 2]),
        uneven_pads=lambda v: turned(v, (1, 1, 3, 4), (1, 2, 3, 3), pads=[1, 0, 0, 2]),
        output_padding=lambda v: turned(
            v, (1, 1, 2, 3), (1, 2, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1]
        ),
        groups=lambda v: two_groups(v(1, 4, 2, 2), v(4, 1, 2, 2)),
        one_dimension_dilated=lambda v: turned(v, (1, 2, 4), (2, 1, 3), 1, dilations=[2]),
    )


def pools(table: Table) -> None:
    table.add(
        "MaxPool",
        [FLOAT, UINT8, HALF],
        lambda v: node(v(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2]),
        uneven_pads=lambda v: node(v(1, 1, 4, 5, high=-0.5), kernel_shape=[3, 2], pads=[1, 0, 0, 1]),
        ceiling=lambda v: node(v(1, 1, 4, 5), kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        dilated_indices=lambda v: node(v(1, 2, 5, 4), kernel_shape=[2, 2], dilations=[2, 2], outputs=2),
        one_dimension=lambda v: node(v(2, 1, 7), kernel_shape=[3], strides=[2]),
    )
    table.add(
        "AveragePool",
        FLOATS,
        lambda v: node(v(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2], sums=True),
        pads_left_out=lambda v: node(v(1, 1, 3, 4), kernel_shape=[2, 3], pads=[1, 0, 0, 1], sums=True),
        pads_counted=lambda v: node(
            v(1, 1, 3, 4), kernel_shape=[2, 3], pads=[1, 0, 0, 1], count_include_pad=1, sums=True
        ),
        one_dimension=lambda v: node(v(1, 2, 7), kernel_shape=[3], strides=[2], sums=True),
    )
    table.add(
        "LpPool",
        FLOATS,
        lambda v: node(v(1, 2, 4, 4), kernel_shape=[2, 2], strides=[2, 2], sums=True),
        one_norm=lambda v: node(v(1, 1, 3, 5), kernel_shape=[2, 3], p=1, sums=True),
    )
    for operator in ("GlobalAveragePool", "GlobalMaxPool"):
        table.add(
            operator, FLOATS, lambda v: node(v(1, 3, 2, 3), sums=True), one_row=lambda v: node(v(1, 2, 1, 5), sums=True)
        )
    table.add("GlobalLpPool", FLOATS, lambda v: lengths(v(1, 3, 2, 3), 2), one_norm=lambda v: lengths(v(2, 1, 5, 1), 1))
    table.add(
        "MaxUnpool",
        FLOATS,
        lambda v: node(v(1, 1, 2, 2), np.array([[[[5, 3], [8, 14]]]]), kernel_shape=[2, 2], strides=[2, 2]),
        one_line=lambda v: node(v(1, 1, 3), np.array([[[1, 2, 5]]]), kernel_shape=[2], strides=[2]),
    )
    table.add(
        "MaxRoiPool",
        FLOATS,
        lambda v: greatest_of_regions(v(1, 2, 4, 4), [[0, 0, 0, 3, 3], [0, 1, 2, 2, 3]], 2, 2),
        uneven=lambda v: greatest_of_regions(v(2, 1, 5, 4), [[1, 0, 1, 2, 4], [0, 1, 0, 3, 2]], 2, 1),
    )
    boxes = [[0, 0.5, 0.25, 3.25, 2.75], [0, 1.125, 1.375, 3.625, 3.125]]
    # Not `mode="max"`: engines do not agree whether it is the greatest of the interpolated points or of the weighted corners.
    table.add(
        "RoiAlign",
        FLOATS,
        lambda v: node(
            v(1, 2, 4, 4),
            v.of(boxes)[:, 1:],
            np.array([0, 0]),
            output_height=2,
            output_width=2,
            sampling_ratio=2,
            spatial_scale=0.75,
        ),
        second_item=lambda v: node(
            v(2, 1, 5, 4),
            v.of(boxes)[:, 1:],
            np.array([1, 0]),
            output_height=2,
            output_width=3,
            sampling_ratio=3,
        ),
        old_corner=lambda v: node(
            v(1, 1, 4, 4),
            v.of(boxes)[:1, 1:],
            np.array([0]),
            output_height=2,
            output_width=3,
            sampling_ratio=2,
            coordinate_transformation_mode="output_half_pixel",
        ),
    )


def recurrent(table: Table) -> None:
    def cell(gates: int, v: Values, directions: int = 1, hidden: int = 2, more: int = 0, **attributes) -> Node:
        steps, batch, width = 3, 2, 2
        weights = [v.weights(directions, gates * hidden, size, low=-1, high=1) for size in (width, hidden)]
        bias = v.weights(directions, 2 * gates * hidden, low=-1, high=1)
        start = [v(directions, batch, hidden, low=-1, high=1) for _ in range(more)]
        lengths = [None] if more else []
        return node(
            v(steps, batch, width), *weights, bias, *lengths, *start, hidden_size=hidden, sums=True, **attributes
        )

    table.add(
        "LSTM",
        FLOATS,
        lambda v: cell(4, v, outputs=3),
        started=lambda v: cell(4, v, more=2, outputs=3),
        backwards=lambda v: cell(4, v, hidden=1, direction="reverse", outputs=2),
        both_ways=lambda v: cell(4, v, directions=2, direction="bidirectional", outputs=2),
    )
    table.add(
        "GRU",
        FLOATS,
        lambda v: cell(3, v, outputs=2),
        reset_after=lambda v: cell(3, v, linear_before_reset=1, more=1, outputs=2),
        both_ways=lambda v: cell(3, v, directions=2, hidden=1, direction="bidirectional", outputs=2),
    )
    table.add(
        "RNN",
        FLOATS,
        lambda v: cell(1, v, outputs=2),
        backwards=lambda v: cell(1, v, hidden=3, more=1, direction="reverse", outputs=2),
        relu=with_relu,
    )


def signals(table: Table) -> None:
    table.add(
        "DFT",
        [FLOAT, DOUBLE],
        lambda v: node(v(1, 4, 1), sums=True),
        one_side=lambda v: node(v(2, 5, 1), onesided=1, sums=True),
        back_along_first=lambda v: node(v(1, 3, 2, 2), axis=2, inverse=1, sums=True),
        cut=lambda v: node(v(1, 6, 1), constant(5), sums=True),
    )
    table.add(
        "STFT",
        [FLOAT, DOUBLE],
        lambda v: node(v(1, 8, 1), constant(2), v.weights(4, low=0.25), constant(4), onesided=1, sums=True),
        both_sides=lambda v: node(v(1, 7, 1), constant(3), v.weights(4, low=0.25), constant(4), onesided=0, sums=True),
    )
    for operator in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        table.add(operator, [INT64, INT32], lambda v: node(v.of(7)), symmetric=lambda v: node(v.of(6), periodic=0))
    table.add(
        "MelWeightMatrix",
        [INT64, INT32],
        lambda v: node(v.of(3), v.of(16), v.of(8000), np.float32(0), np.float32(4000)),
        from_above=lambda v: node(v.of(2), v.of(12), v.of(8000), np.float32(250), np.float32(3500)),
    )


def boxes(table: Table) -> None:
    corners = [[[0, 0, 2, 2], [0.25, 0, 2.25, 2], [3, 3, 5, 5], [3, 3.5, 5, 5.5], [8, 8, 9, 9]]]
    # As centres and sizes the first two overlap by more than they do as corners.
    centres = [[[1, 1, 2, 2], [1.5, 1, 2, 2], [4, 4, 2.5, 2.5], [4, 4.25, 2, 2.25]]]
    scores = [[[0.5, 0.875, 0.25, 0.75, 0.125]]]

    def kept(v: Values, places: list, points: list, most: int, overlap: float, least: float, **attributes) -> Node:
        return node(
            v.of(places),
            v.of(points),
            constant([most]),
            constant([overlap], FLOAT),
            constant([least], FLOAT),
            **attributes,
        )

    table.add(
        "NonMaxSuppression",
        [FLOAT],
        lambda v: kept(v, corners, scores, 3, 0.5, 0.1875),
        centres_two_classes=lambda v: kept(
            v,
            centres,
            [[[0.5, 0.875, 0.25, 0.1875], [0.625, 0.375, 0.9375, 0.1875]]],
            3,
            0.5625,
            0.3125,
            center_point_box=1,
        ),
    )


def chance(table: Table) -> None:
    """The zoo's random operator: anything between the bounds is right, and nothing else. Half the distance is the tolerance."""
    table.add(
        "RandomUniformLike",
        FLOATS,
        lambda v: node(v(2, 3), low=3.0, high=5.0, seed=7.0, expected=[np.full((2, 3), 4, dtype=v.type)], within=1.0),
        other_type=lambda v: node(
            v(1, 4, dtype=INT64),
            low=-9.0,
            high=-7.0,
            seed=7.0,
            dtype=1,
            expected=[np.full((1, 4), -8, dtype=FLOAT)],
            within=1.0,
        ),
    )


def add_to(table: Table) -> None:
    convolutions(table)
    pools(table)
    recurrent(table)
    signals(table)
    boxes(table)
    chance(table)
