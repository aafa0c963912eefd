"""Operators that compute each element by itself, and comparisons, logic and bits."""

import numpy as np

from .values import BOOL, DOUBLE, FLOAT, HALF, INT32, INT64, UINT8, Constant, Maker, Node, Table, Values, constant, node

PLAIN, EDGE = (2, 4), (1, 7, 1)


def unary(table: Table) -> None:
    floats = [FLOAT, HALF]
    domains = {
        "Abs": ([FLOAT, INT32, HALF], -2, 2),
        "Acos": (floats, -0.9, 0.9),
        "Acosh": (floats, 1.2, 4),
        "Asin": (floats, -0.9, 0.9),
        "Asinh": (floats, -4, 4),
        "Atan": (floats, -4, 4),
        "Atanh": (floats, -0.9, 0.9),
        "Ceil": (floats, -4, 4),
        "Cos": (floats, -4, 4),
        "Cosh": (floats, -2, 2),
        "Erf": (floats, -2, 2),
        "Exp": (floats, -3, 3),
        "Floor": (floats, -4, 4),
        "HardSwish": (floats, -4, 4),
        "Log": (floats, 0.1, 4),
        "Mish": (floats, -3, 3),
        "Neg": ([FLOAT, INT64, HALF], -2, 2),
        "Reciprocal": (floats, 0.25, 4),
        "Relu": ([FLOAT, HALF, INT32], -2, 2),
        "Sigmoid": (floats, -4, 4),
        "Sin": (floats, -4, 4),
        "Sinh": (floats, -2, 2),
        "Softplus": (floats, -3, 3),
        "Softsign": (floats, -3, 3),
        "Sqrt": (floats, 0.1, 4),
        "Tan": (floats, -1.2, 1.2),
        "Tanh": (floats, -2, 2),
    }
    for operator, (types, low, high) in domains.items():
        table.add(
            operator,
            types,
            lambda v, low=low, high=high: node(v(*PLAIN, low=low, high=high)),
            ones=lambda v, low=low, high=high: node(v(*EDGE, low=low, high=high)),
        )
    # A tie goes to the even neighbour.
    table.add(
        "Round",
        floats,
        lambda v: node(v(*PLAIN, high=4)),
        ties=lambda v: node(v.of([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5])),
    )
    table.add(
        "Sign", [FLOAT, INT32, HALF], lambda v: node(v(*PLAIN)), zero=lambda v: node(v.of([[[-3.5], [0], [0.25]]]))
    )
    table.add("Identity", [FLOAT, INT64, BOOL], lambda v: node(v(*PLAIN)), ones=lambda v: node(v(*EDGE)))


def activations(table: Table) -> None:
    floats = [FLOAT, HALF]
    settings = {
        "Celu": [{"alpha": 0.5}, {"alpha": 2.0}],
        "Elu": [{"alpha": 0.5}, {"alpha": 2.0}],
        "HardSigmoid": [{"alpha": 0.25, "beta": 0.375}, {"alpha": 0.5, "beta": 0.75}],
        "LeakyRelu": [{"alpha": 0.25}, {"alpha": -0.5}],
        "Selu": [{"alpha": 1.25, "gamma": 1.5}, {"alpha": 2.0, "gamma": 0.5}],
        "Shrink": [{"bias": 0.25, "lambd": 1.25}, {"bias": -0.5, "lambd": 1.0}],
        "ThresholdedRelu": [{"alpha": 0.625}, {"alpha": -0.5}],
    }
    for operator, (plain, other) in settings.items():
        table.add(
            operator,
            # Celu is defined for float32 alone.
            [FLOAT] if operator == "Celu" else floats,
            lambda v, plain=plain: node(v(2, 4), **plain),
            ones=lambda v, other=other: node(v(*EDGE), **other),
        )
    # A slope for each channel, which lies before the last dimensions; and one for all.
    table.add(
        "PRelu",
        floats,
        lambda v: node(v(2, 3, 2), v.weights(3, 1)),
        one_slope=lambda v: node(v(*EDGE), constant([0.375], v.type)),
    )
    table.add(
        "Clip",
        [FLOAT, INT32, HALF],
        lambda v: node(v(2, 5), Clipped.low(v), Clipped.high(v)),
        no_least=lambda v: node(v(*EDGE), None, Clipped.high(v)),
        no_greatest=lambda v: node(v(1, 6), Clipped.low(v)),
    )


class Clipped:
    """Bounds with numbers on either side."""

    @staticmethod
    def low(v: Values) -> Constant:
        return constant(-5 if v.type == INT32 else -0.625, v.type)

    @staticmethod
    def high(v: Values) -> Constant:
        return constant(6 if v.type == INT32 else 0.875, v.type)


def arithmetic(table: Table) -> None:
    def two(v: Values, *dims: tuple[int, ...], low: float = -2) -> Node:
        return node(v(*dims[0], low=low), v(*dims[1], low=low))

    floats = [FLOAT, HALF]
    same, wide, row = [(2, 3), (2, 3)], [(2, 1, 3), (4, 1)], [(2, 3, 1), ()]
    for operator in ("Add", "Sub", "Mul"):
        table.add(
            operator,
            [FLOAT, HALF, INT64, INT32],
            lambda v: two(v, *same),
            broadcast=lambda v: two(v, *wide),
            scalar=lambda v: two(v, *row),
        )
    # Integers of one sign: how a negative quotient is rounded is not what is asked here.
    table.add(
        "Div",
        [FLOAT, HALF, INT64, INT32],
        lambda v: two(v, *same, low=0.25),
        broadcast=lambda v: two(v, *wide, low=0.25),
        scalar=lambda v: two(v, *row, low=0.25),
    )
    table.add(
        "Pow",
        [FLOAT, HALF],
        lambda v: two(v, *same, low=0.25),
        broadcast=lambda v: two(v, *wide, low=0.25),
        whole_exponent=lambda v: node(v(2, 3), np.array([2, 3, -1], dtype=np.int32)),
        square=lambda v: node(v(1, 5), constant(2, v.type)),
    )
    table.add(
        "Mod",
        [INT64, INT32],
        lambda v: node(v(2, 4), v.of([[3, -5, 4, -7], [-4, 6, -3, 5]])),
        broadcast=lambda v: node(v(2, 1, 3), v.of([[5], [-7]])),
        remainder=lambda v: node(v(1, 6), v.of([[3, -5, 4, -7, 5, -3]]), fmod=1),
    )
    table.put("Mod", "", FLOAT, lambda v: node(v(2, 3), v(2, 3, low=0.25, high=0.75), fmod=1))
    for operator, types in {"Max": [FLOAT, INT64, HALF], "Min": [FLOAT, INT64, HALF], "Sum": [FLOAT, HALF]}.items():
        table.add(
            operator,
            types,
            lambda v: node(v(2, 3), v(2, 3)),
            three_broadcast=lambda v: node(v(2, 1, 3), v(4, 1), v(1)),
        )
    # The evaluator adds the others to the first one in place: the first one has the whole shape.
    table.add(
        "Mean", floats, lambda v: node(v(2, 3), v(2, 3)), three_broadcast=lambda v: node(v(2, 4, 3), v(4, 1), v(1))
    )


def comparisons(table: Table) -> None:
    def same(v: Values) -> Node:
        first = v(2, 4)
        return node(first, v.beside(first))

    def broadcast(v: Values) -> Node:
        # One in four numbers meets itself.
        first = v(4, 1)
        return node(first, first.reshape(1, 4)[:, ::-1].copy())

    for operator in ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"):
        table.add(operator, [FLOAT, INT64, HALF], same, broadcast=broadcast)
    table.put("Equal", "", BOOL, lambda v: node(v.of([True, False, True, False]), v.of([True, True, False, False])))
    truth = [[[True], [False]], [[True, False]]]
    for operator in ("And", "Or", "Xor"):
        table.add(
            operator,
            [BOOL],
            lambda v: node(v.of([True, True, False, False]), v.of([True, False, True, False])),
            broadcast=lambda v: node(v.of(truth[0]), v.of(truth[1])),
        )
    table.add("Not", [BOOL], lambda v: node(v(2, 3)), ones=lambda v: node(v(*EDGE)))
    strange = [np.nan, 1.5, np.inf, -np.inf, -0.25, np.nan]
    table.add(
        "IsNaN", [FLOAT, HALF], lambda v: node(v.of(strange)), ones=lambda v: node(v.of(strange).reshape(1, 6, 1))
    )
    table.add(
        "IsInf",
        [FLOAT, DOUBLE],
        lambda v: node(v.of(strange)),
        negative_only=lambda v: node(v.of(strange).reshape(1, 6, 1), detect_positive=0),
        positive_only=lambda v: node(v.of(strange).reshape(6, 1), detect_negative=0),
    )
    table.add(
        "Where",
        [FLOAT, INT64, HALF, BOOL],
        lambda v: node(v(2, 4, dtype=BOOL), v(2, 4), v(2, 4)),
        broadcast=lambda v: node(v(2, 1, 3, dtype=BOOL), v(4, 1), v()),
    )


def bits(table: Table) -> None:
    for operator in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        table.add(
            operator,
            [INT32, UINT8],
            lambda v: node(v(2, 3, high=15), v(2, 3, high=15)),
            broadcast=lambda v: node(v(3, 1, high=15), v(1, 2, high=15)),
        )
    table.add("BitwiseNot", [INT32, UINT8], lambda v: node(v(2, 3)), ones=lambda v: node(v(*EDGE)))
    table.add(
        "BitShift",
        [UINT8, "uint32"],
        # No bit is pushed out: what becomes of one is not what is asked here.
        lambda v: node(v(2, 3, high=1.875), v(2, 3, high=0.5), direction="LEFT"),
        broadcast=lambda v: node(v(3, 1, low=4, high=15), v(1, 2, high=0.375), direction="RIGHT"),
    )


def casts(table: Table) -> None:
    to = {"float16": 10, "float32": 1, "int64": 7, "int32": 6, "bool": 9, "uint8": 2, "float64": 11}

    def cast(target: str) -> Maker:
        return lambda v: node(v(2, 3), to=to[target], native=True)

    table.put(
        "Cast",
        "to_f16",
        FLOAT,
        lambda v: node(v.of([[0.1, -1.7, 3.3], [100.3, -2047.6, 0.001]]), to=to["float16"], native=True),
    )
    table.put("Cast", "to_i64", FLOAT, lambda v: node(v(2, 3, low=-4, high=4), to=to["int64"], native=True), edge=False)
    table.put("Cast", "to_bool", FLOAT, lambda v: node(v.of([[0, -0.5, 2.0]]), to=to["bool"], native=True))
    table.put("Cast", "to_f32", HALF, cast("float32"), edge=False)
    table.put("Cast", "to_f32", "bfloat16", cast("float32"), edge=False)
    table.put("Cast", "to_f32", INT64, cast("float32"), edge=False)
    table.put("Cast", "to_i32", INT64, cast("int32"), edge=False)
    table.put("Cast", "to_i64", INT32, cast("int64"), edge=False)
    table.put("Cast", "to_f32", BOOL, cast("float32"), edge=False)
    table.put("Cast", "to_f32", UINT8, cast("float32"), edge=False)
    table.add(
        "CastLike",
        [FLOAT, INT64],
        lambda v: node(v(2, 3), np.array([1], dtype=np.float16 if v.type == FLOAT else np.float32), native=True),
        ones=lambda v: node(v(*EDGE, low=-4, high=4), np.array([[1]], dtype=np.int32), native=True),
    )


def add_to(table: Table) -> None:
    unary(table)
    activations(table)
    arithmetic(table)
    comparisons(table)
    bits(table)
    casts(table)
