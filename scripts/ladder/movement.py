"""Operators that move, pick, repeat and count elements, and those that answer with shapes and indices."""

import numpy as np

from .values import BOOL, FLOAT, HALF, INT64, Node, Table, Values, constant, node

# What exporters write for "to the end".
END = (1 << 63) - 1


def shapes(table: Table) -> None:
    some = [FLOAT, INT64, HALF]
    table.add(
        "Reshape",
        some,
        lambda v: node(v(2, 3, 4), constant([4, 6])),
        copied_and_inferred=lambda v: node(v(2, 3, 4), constant([0, -1, 2])),
        to_scalar=lambda v: node(v(1, 1), constant([], INT64)),
    )
    table.add(
        "Flatten",
        [FLOAT, INT64],
        lambda v: node(v(2, 3, 2)),
        first=lambda v: node(v(2, 3), axis=0),
        negative_axis=lambda v: node(v(2, 3, 1, 2), axis=-1),
    )
    table.add(
        "Squeeze",
        some,
        lambda v: node(v(2, 1, 3, 1), constant([1])),
        negative_axis=lambda v: node(v(1, 3, 1), constant([-1])),
        all_ones=lambda v: node(v(1, 3, 1)),
    )
    table.add(
        "Unsqueeze", some, lambda v: node(v(2, 3), constant([1])), negative_axes=lambda v: node(v(3), constant([-1, 0]))
    )
    table.add(
        "Transpose",
        [FLOAT, INT64, HALF],
        lambda v: node(v(2, 3, 4), perm=[0, 2, 1]),
        reversed=lambda v: node(v(2, 1, 3)),
        cycle=lambda v: node(v(2, 1, 3, 2), perm=[3, 0, 2, 1]),
    )
    table.add(
        "Expand",
        [FLOAT, INT64, HALF],
        lambda v: node(v(2, 1), constant([2, 3])),
        both_ways=lambda v: node(v(3, 1), constant([2, 1, 2])),
    )
    table.add(
        "Tile",
        [FLOAT, INT64],
        lambda v: node(v(2, 3), constant([2, 1])),
        ones=lambda v: node(v(1, 2, 1), constant([3, 1, 2])),
    )
    table.add("Shape", [FLOAT, INT64], lambda v: node(v(2, 3, 4)), part=lambda v: node(v(2, 3, 1, 4), start=-3, end=-1))
    table.add("Size", [FLOAT, INT64], lambda v: node(v(2, 3, 2)), scalar=lambda v: node(v()))
    table.add(
        "ConstantOfShape",
        [FLOAT, INT64],
        lambda v: node(np.array([2, 3]), value=v.of([5])),
        ones=lambda v: node(np.array([1, 4, 1]), value=v.of([-3])),
    )
    table.add(
        "Range",
        [INT64, FLOAT],
        lambda v: node(v.of(2), v.of(11), v.of(3)),
        downwards=lambda v: node(v.of(5), v.of(-4), v.of(-2)),
    )
    table.add("EyeLike", [FLOAT, INT64], lambda v: node(v(3, 4)), above=lambda v: node(v(3, 5), k=2, dtype=7))
    table.add("Trilu", [FLOAT, INT64], lambda v: node(v(3, 4)), lower=lambda v: node(v(1, 3, 4), constant(-1), upper=0))


def joints(table: Table) -> None:
    some = [FLOAT, INT64, HALF]
    table.add(
        "Concat",
        some,
        lambda v: node(v(2, 3), v(2, 3), axis=0),
        three_uneven=lambda v: node(v(2, 1, 2), v(2, 3, 2), v(2, 2, 2), axis=-2),
    )
    table.add(
        "Split",
        [FLOAT, INT64],
        lambda v: node(v(4, 3), num_outputs=2, outputs=2),
        uneven=lambda v: node(v(2, 7), constant([1, 4, 2]), axis=-1, outputs=3),
        rest=lambda v: node(v(1, 5), num_outputs=2, axis=1, outputs=2),
    )
    table.add(
        "Slice",
        some,
        lambda v: node(v(4, 5), constant([1, 0]), constant([3, 4])),
        backwards=lambda v: node(v(3, 5), constant([-1]), constant([-6]), constant([-1]), constant([-2])),
        to_the_end=lambda v: node(v(2, 1, 7), constant([2]), constant([END]), constant([-1]), constant([3])),
    )
    table.add(
        "Pad",
        [FLOAT, INT64, HALF],
        lambda v: node(v(2, 3), constant([1, 1, 1, 1]), constant(3, v.type)),
        one_side=lambda v: node(v(2, 3), constant([0, 2, 1, 0]), constant(-5, v.type)),
        reflect=lambda v: node(v(1, 4), constant([0, 2, 0, 3]), mode="reflect"),
        border=lambda v: node(v(2, 3), constant([1, 0, 0, 2]), mode="edge"),
        some_axes=lambda v: node(v(2, 1, 3), constant([1, 2]), constant(7, v.type), constant([-1])),
    )
    table.add(
        "CenterCropPad",
        [FLOAT, INT64],
        lambda v: node(v(6, 3), constant([4, 5])),
        odd=lambda v: node(v(2, 7, 3), constant([4, 4]), axes=[-1, 1]),
    )
    table.add(
        "DepthToSpace",
        [FLOAT, HALF],
        lambda v: node(v(1, 8, 2, 2), blocksize=2),
        columns_first=lambda v: node(v(1, 8, 1, 3), blocksize=2, mode="CRD"),
    )
    table.add(
        "SpaceToDepth",
        [FLOAT, HALF],
        lambda v: node(v(1, 2, 4, 4), blocksize=2),
        uneven=lambda v: node(v(1, 1, 3, 6), blocksize=3),
    )
    table.add(
        "ReverseSequence",
        [FLOAT, INT64],
        lambda v: node(v(4, 3), np.array([2, 4, 1])),
        time_last=lambda v: node(v(2, 5), np.array([3, 5]), time_axis=1, batch_axis=0),
    )
    table.add(
        "Col2Im",
        [FLOAT, HALF],
        lambda v: node(v(1, 4, 9), constant([4, 4]), constant([2, 2])),
        strided=lambda v: node(
            v(1, 4, 4),
            constant([5, 4]),
            constant([2, 2]),
            dilations=[2, 1],
            pads=[0, 1, 1, 0],
            strides=[2, 2],
            sums=True,
        ),
    )


def along_last(x: np.ndarray, indices: np.ndarray) -> Node:
    # The evaluator takes no negative axis.
    return node(x, indices, axis=-1, expected=[np.take_along_axis(x, indices, axis=-1)])


def picks(table: Table) -> None:
    some = [FLOAT, INT64, HALF]
    table.add(
        "Gather",
        [FLOAT, INT64, HALF, BOOL],
        lambda v: node(v(4, 3), np.array([[2, 0], [3, 3]])),
        scalar_last_axis=lambda v: node(v(2, 5), np.array(-2), axis=-1),
        short_indices=lambda v: node(v(3, 1, 4), np.array([[3, -4, 1]], dtype=np.int32), axis=2),
    )
    table.add(
        "GatherElements",
        some,
        lambda v: node(v(3, 3), np.array([[2, 0, 1], [1, 1, 0]])),
        negative_axis=lambda v: along_last(v(2, 4), np.array([[-1, 1, 2], [0, -3, 0]])),
    )
    table.add(
        "GatherND",
        some,
        lambda v: node(v(3, 4), np.array([[2, 1], [0, 3], [1, 1]])),
        slices=lambda v: node(v(3, 1, 2), np.array([[[-1]], [[1]]])),
        batch=lambda v: node(v(2, 3, 2), np.array([[2], [1]]), batch_dims=1),
    )
    table.add(
        "ScatterElements",
        [FLOAT, INT64, HALF],
        lambda v: node(v(3, 3), np.array([[1, 0, 2], [0, 2, 1]]), v(2, 3)),
        add_twice=lambda v: node(v(1, 5), np.array([[1, -1, 1]]), v(1, 3), axis=-1, reduction="add"),
        greatest=lambda v: node(v(4), np.array([2, 0, 2]), v(3, low=-1, high=4), reduction="max"),
    )
    table.add(
        "ScatterND",
        [FLOAT, INT64, HALF],
        lambda v: node(v(4, 3), np.array([[2], [0]]), v(2, 3)),
        elements=lambda v: node(v(2, 1, 3), np.array([[1, 0, -1], [0, 0, 1]]), v(2)),
        multiply=lambda v: node(v(5), np.array([[3], [1], [3]]), v(3), reduction="mul"),
    )
    table.add(
        "OneHot",
        [FLOAT, INT64],
        lambda v: node(np.array([2, 0, 1]), constant(4), constant([-2, 3], v.type)),
        negative=lambda v: node(
            np.array([[1], [-1]]), constant(3), constant([0.5, 7] if v.type == FLOAT else [1, 7], v.type), axis=0
        ),
    )
    table.add(
        "Compress",
        [FLOAT, INT64],
        lambda v: node(v(3, 3), constant([False, True, True], BOOL), axis=0),
        flat=lambda v: node(v(2, 3), constant([True, False, False, True, True], BOOL)),
    )
    table.add(
        "NonZero",
        [FLOAT, INT64, BOOL],
        lambda v: node(v(2, 3) * v.of([[0, 1, 1], [1, 0, 1]])),
        scalar_rows=lambda v: node(v.of([[[0], [3], [0], [2]]])),
    )
    table.add(
        "Unique",
        [FLOAT, INT64],
        lambda v: node(v.of([3, 1, 3, -2, 1, 5]), outputs=4),
        rows=lambda v: node(v.of([[2, 1], [4, 3], [2, 1], [0, 3]]), axis=0, outputs=4),
        first_seen=lambda v: node(v.of([3, 1, 3, -2, 1, 5]), sorted=0, outputs=4),
    )
    table.add(
        "TopK",
        [FLOAT, INT64, HALF],
        lambda v: node(v(2, 5), constant([3]), outputs=2),
        least_first_axis=lambda v: node(v(4, 1, 2), constant([2]), axis=0, largest=0, outputs=2),
    )


def changes_of_size(table: Table) -> None:
    nothing = None
    scales = constant([1, 1, 2, 3], FLOAT)
    uneven = constant([1, 1, 1.5, 0.75], FLOAT)
    table.add(
        "Resize",
        [FLOAT, HALF],
        lambda v: node(
            v(1, 2, 2, 3), nothing, scales, coordinate_transformation_mode="asymmetric", nearest_mode="floor"
        ),
        to_size=lambda v: node(v(1, 1, 3, 4), nothing, nothing, constant([1, 1, 5, 7]), mode="linear"),
        corners=lambda v: node(
            v(1, 1, 3, 4),
            nothing,
            nothing,
            constant([1, 1, 7, 2]),
            mode="linear",
            coordinate_transformation_mode="align_corners",
        ),
        pytorch_one=lambda v: node(
            v(1, 1, 4, 3),
            nothing,
            nothing,
            constant([1, 1, 1, 5]),
            mode="linear",
            coordinate_transformation_mode="pytorch_half_pixel",
        ),
        uneven=lambda v: node(v(1, 1, 4, 4), nothing, uneven, mode="linear"),
        cubic=lambda v: node(v(1, 1, 4, 4), nothing, nothing, constant([1, 1, 6, 5]), mode="cubic", cubic_coeff_a=-0.5),
        nearest_ceil=lambda v: node(v(1, 1, 3, 5), nothing, nothing, constant([1, 1, 4, 3]), nearest_mode="ceil"),
    )

    def grid(v: Values, *dims: int) -> np.ndarray:
        # Some points lie a little outside.
        return v(*dims, low=-1.1, high=1.1)

    table.add(
        "GridSample",
        [FLOAT, HALF],
        lambda v: node(v(1, 2, 3, 4), grid(v, 1, 2, 3, 2)),
        corners_border=lambda v: node(v(1, 1, 4, 3), grid(v, 1, 3, 1, 2), align_corners=1, padding_mode="border"),
        reflection=lambda v: node(v(1, 1, 3, 3), v(1, 2, 2, 2, low=-1.6, high=1.6), padding_mode="reflection"),
        nearest=lambda v: node(
            v(1, 1, 4, 5), v.of([[[[-0.6875, 0.28125], [0.15625, -0.84375], [0.90625, 0.59375]]]]), mode="nearest"
        ),
    )


def add_to(table: Table) -> None:
    shapes(table)
    joints(table)
    picks(table)
    changes_of_size(table)
