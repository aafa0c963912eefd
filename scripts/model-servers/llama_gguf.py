"""A Llama of the zoo for llama.cpp: a GGUF file with the numbers of an ONNX file.

    llama_gguf.py FILE.onnx FILE.gguf

Token i of the model has the text ` t` and i. Behind the model's tokens there are some that stand in prompts alone, so that every text has tokens: words and
characters. The first of these has the numbers of the model's token 0, the next those of token 1, and so on. None is ever made where the likeliest is: its logit
is 0, and the largest of all is above.
"""

import json
import pathlib
import sys
import typing

import gguf
import numpy
import onnx

# Those that the benchmark `openai` writes, a token each, as most tokenizers have them. Other words are a token for each character.
WORDS = """
    and the for with from that this when time house water light road tree stone hand river field night day world place work part name line point end form
    side state year
""".split()
CHARACTERS = [chr(code) for code in range(ord("!"), ord("~") + 1)]
# A word has its space, the unknown is one character or more, and nothing ends a text but its length.
PROMPTS_ALONE = ["<unknown>", "</s>", "▁", *CHARACTERS, *(f"▁{word}" for word in WORDS)]
# So that llama.cpp multiplies logits the way it does without them: it has another one for sizes that are not a multiple of this.
PROMPTS_ALONE += [f"<unused {number}>" for number in range(-len(PROMPTS_ALONE) % 16)]
UNKNOWN, END = 0, 1

# What was said, and nothing of who said it.
CHAT = "{% for message in messages %}{{ message.content }}{% if not loop.last %} {% endif %}{% endfor %}"
# Tokens of a sequence, where the model's description does not say how many are too many.
LONGEST = 2048
# In the order of the graph.
OF_A_LAYER = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]


class Llama(typing.NamedTuple):
    tokens: numpy.ndarray
    # As numpy has them: rows are inputs.
    matrices: list
    norms: list
    frequencies: numpy.ndarray
    epsilon: float
    longest: int

    @property
    def head(self):
        return 2 * len(self.frequencies)

    @property
    def layers(self):
        return len(self.matrices) // len(OF_A_LAYER)


def read(file):
    graph = onnx.load(file).graph
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    uses = {operator: [node for node in graph.node if node.op_type == operator] for operator in ["Gather", "MatMul", "Mul", "ReduceMean", "Add"]}
    of = lambda operator, dimensions: [
        stored[name] for node in uses[operator] for name in node.input if name in stored and stored[name].ndim == dimensions
    ]
    means = {node.output[0] for node in uses["ReduceMean"]}
    epsilons = {float(stored[node.input[1]]) for node in uses["Add"] if node.input[0] in means and node.input[1] in stored}
    tables, vectors = of("Gather", 2), of("Mul", 1)
    size = tables[0].shape[1] if tables else 0
    frequencies = [vector for vector in vectors if len(vector) != size]
    require(file, len(tables) == len(frequencies) == len(epsilons) == 1, "no one table of tokens, rotation and norm")
    norms = [vector for vector in vectors if len(vector) == size]
    llama = Llama(tables[0], of("MatMul", 2), norms, frequencies[0], *epsilons, longest(file))
    validate(file, llama, sum(tensor.size for tensor in stored.values() if tensor.dtype == numpy.float32 and tensor.ndim > 0))
    return llama


def validate(file, llama, numbers):
    """Biases, other rotations and other numbers than float32 would be lost without a word."""
    size, layers, head = llama.tokens.shape[1], llama.layers, llama.head
    require(file, len(llama.matrices) == len(OF_A_LAYER) * layers + 1 and len(llama.norms) == 2 * layers + 1, "other layers")
    for q, k, v, out, gate, up, down in zip(*[iter(llama.matrices[:-1])] * len(OF_A_LAYER)):
        shapes = q.shape == out.shape[::-1] and k.shape == v.shape and gate.shape == up.shape == down.shape[::-1]
        require(file, shapes and {q.shape[0], k.shape[0], gate.shape[0]} == {size} and q.shape[1] % head == k.shape[1] % head == 0, "other layers")
    require(file, llama.matrices[-1].shape == llama.tokens.shape[::-1], "logits of other tokens")
    require(file, numpy.allclose(llama.frequencies, base(llama) ** (-numpy.arange(0, head, 2) / head)), "a rotation of its own")
    used = [llama.tokens, llama.frequencies, *llama.matrices, *llama.norms]
    require(file, sum(tensor.size for tensor in used) == numbers, "more numbers than a Llama has, or others than float32")
    require(file, len(llama.tokens) >= len(PROMPTS_ALONE), "few tokens")


def require(file, holds, what):
    if not holds:
        sys.exit(f"{file} is no Llama that can be made a GGUF file of: it has {what}")


def base(llama):
    """Of the rotation's frequencies, which are powers of it."""
    return float(round(float(llama.frequencies[1]) ** (-llama.head / 2)))


def longest(file):
    described = pathlib.Path(file).with_name("skill.json")
    axes = json.loads(described.read_text()).get("axes", {}) if described.exists() else {}
    return max(axes.get("sequence", [1, LONGEST])[1], axes.get("past", [0, 0])[1] + 1)


def write(llama, name, file):
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name(name)
    writer.add_context_length(llama.longest)
    writer.add_embedding_length(llama.tokens.shape[1])
    writer.add_block_count(llama.layers)
    writer.add_feed_forward_length(llama.matrices[OF_A_LAYER.index("ffn_gate")].shape[1])
    writer.add_head_count(heads(llama, "attn_q"))
    writer.add_head_count_kv(heads(llama, "attn_k"))
    writer.add_key_length(llama.head)
    writer.add_value_length(llama.head)
    writer.add_rope_dimension_count(llama.head)
    writer.add_rope_freq_base(base(llama))
    writer.add_layer_norm_rms_eps(llama.epsilon)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    add_vocabulary(writer, len(llama.tokens))
    for tensor, numbers in tensors(llama):
        writer.add_tensor(f"{tensor}.weight", numpy.ascontiguousarray(numbers))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def heads(llama, name):
    return llama.matrices[OF_A_LAYER.index(name)].shape[1] // llama.head


def add_vocabulary(writer, tokens):
    """By the unigram tokenizer: of all ways to cut a text, the one with the highest sum of scores. It has no bytes, which may be half a letter and no text."""
    types = [gguf.TokenType.NORMAL] * (tokens + len(PROMPTS_ALONE))
    types[tokens + UNKNOWN], types[tokens + END] = gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL
    writer.add_tokenizer_model("t5")
    writer.add_token_list([*(f"▁t{token}" for token in range(tokens)), *PROMPTS_ALONE])
    writer.add_token_types(types)
    writer.add_token_scores([0.0] * tokens + [-1.0 if len(text) == 1 else 0.0 for text in PROMPTS_ALONE])
    writer.add_unk_token_id(tokens + UNKNOWN)
    writer.add_eos_token_id(tokens + END)
    writer.add_pad_token_id(tokens + END)
    # Prompts are read as they are sent, but for the space before the first word.
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.add_add_space_prefix(True)
    writer.add_remove_extra_whitespaces(True)
    writer.add_chat_template(CHAT)


def tensors(llama):
    more = len(PROMPTS_ALONE)
    *layers, logits = llama.matrices
    yield "token_embd", numpy.concatenate([llama.tokens, llama.tokens[:more]])
    yield "output", numpy.concatenate([logits.T, numpy.zeros((more, len(logits)), numpy.float32)])
    yield "output_norm", llama.norms[-1]
    for layer in range(llama.layers):
        yield f"blk.{layer}.attn_norm", llama.norms[2 * layer]
        yield f"blk.{layer}.ffn_norm", llama.norms[2 * layer + 1]
        for name, matrix in zip(OF_A_LAYER, layers[len(OF_A_LAYER) * layer :]):
            numbers = matrix.T
            yield f"blk.{layer}.{name}", interleaved(numbers, llama.head) if name in ["attn_q", "attn_k"] else numbers


def interleaved(matrix, head):
    """What is rotated together lies side by side in a head of llama.cpp, and half a head apart in the graph."""
    return matrix.reshape(-1, 2, head // 2, matrix.shape[1]).swapaxes(1, 2).reshape(matrix.shape)


if __name__ == "__main__":
    write(read(sys.argv[1]), pathlib.Path(sys.argv[1]).parent.name, sys.argv[2])
