"""Which standard operators have no case, and why."""

CONTROL = "runs graphs within the graph: control flow is no single operator"
CHANCE = "random: no result is the right one, and no graph of the zoo has it"
SEQUENCE = "its values are sequences or optional ones, and ports here are tensors"
TEXT = "it works on text, and ports here are numbers"
NOTHING = "no input: nothing is computed when it runs"
NEWER = "came with opset {since}, and the graphs are in opset {opset}"
DEPRECATED = "deprecated at opset {opset}"

REASONS = {
    "Bernoulli": CHANCE,
    "Constant": NOTHING,
    "If": CONTROL,
    "Loop": CONTROL,
    "Multinomial": CHANCE,
    "RandomNormal": CHANCE,
    "RandomNormalLike": CHANCE,
    "RandomUniform": CHANCE,
    "Scan": CONTROL,
    "StringNormalizer": TEXT,
    "TfIdfVectorizer": TEXT,
    "Optional": SEQUENCE,
    "OptionalGetElement": SEQUENCE,
    "OptionalHasElement": SEQUENCE,
    "ConcatFromSequence": SEQUENCE,
    "SequenceAt": SEQUENCE,
    "SequenceConstruct": SEQUENCE,
    "SequenceEmpty": SEQUENCE,
    "SequenceErase": SEQUENCE,
    "SequenceInsert": SEQUENCE,
    "SequenceLength": SEQUENCE,
    "SequenceMap": SEQUENCE,
    "SplitToSequence": SEQUENCE,
}
