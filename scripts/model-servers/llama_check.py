#!/usr/bin/env python3
"""Holds what llama.cpp streams against ONNX Runtime, token by token: the largest logit of the same ONNX file, without llama.cpp.

    llama_check.py FILE.onnx URL

Asks for many streams at once, of prompts of token ids, of words, and of a chat. `scripts/model-server --install` has what this needs. Ends with 1 where a
token is another one.
"""

import concurrent.futures
import json
import pathlib
import random
import re
import sys
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "target" / "model-servers"))
import numpy
import onnxruntime

FILE, URL = sys.argv[1:3]
PROMPTS, LONGEST, NEW = 10, 96, 48
WORDS = "and the water of a river, t17 and t18"


class Model:
    def __init__(self):
        self.session = onnxruntime.InferenceSession(FILE, providers=["CPUExecutionProvider"])
        self.inputs = self.session.get_inputs()
        self.outputs = [port.name for port in self.session.get_outputs()]
        self.tokens = self.session.get_outputs()[0].shape[-1]

    def greedy(self, prompt, count):
        """Tokens, each with how far its logit is above the next largest."""
        made, all, states = [], list(prompt), {}
        while len(made) < count:
            past = next((state.shape[2] for state in states.values()), 0)
            outputs = dict(zip(self.outputs, self.session.run(None, self.feeds(all, past, states))))
            states = {name: state for name, state in outputs.items() if name.startswith("present.")}
            logits = outputs["logits"][0, -1]
            second, first = numpy.sort(logits)[-2:]
            made.append((int(logits.argmax()), float(first - second)))
            all.append(made[-1][0])
        return made

    def feeds(self, tokens, past, states):
        values = {"input_ids": tokens[past:], "attention_mask": [1] * len(tokens), "position_ids": range(past, len(tokens))}
        return {port.name: self.value(port, values, states) for port in self.inputs}

    def value(self, port, values, states):
        if port.name in values:
            return numpy.array([list(values[port.name])], dtype=numpy.int64)
        empty = [1, port.shape[1], 0, port.shape[3]]
        return states.get(port.name.replace("past_key_values", "present"), numpy.zeros(empty, dtype=numpy.float32))


def post(path, body):
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return urllib.request.urlopen(request, timeout=300)


def streamed(question):
    """The tokens of an answer: a piece each, by its text. The server has to have counted as many."""
    path = "/v1/chat/completions" if "messages" in question else "/v1/completions"
    how = {"max_tokens": NEW, "temperature": 0, "ignore_eos": True, "stream": True, "stream_options": {"include_usage": True}}
    tokens, counted = [], None
    for line in post(path, {**question, **how}):
        if not line.startswith(b"data: {"):
            continue
        chunk = json.loads(line[6:])
        for choice in chunk["choices"]:
            text = choice.get("text") or choice.get("delta", {}).get("content")
            if text:
                tokens.append(int(re.fullmatch(r" t(\d+)", text)[1]))
        counted = chunk.get("usage", {}).get("completion_tokens", counted)
    return tokens if len(tokens) == counted == NEW else sys.exit(f"{len(tokens)} pieces, {counted} counted, {NEW} asked for")


def questions(model):
    """What is asked for, and the tokens of the model that it is."""
    draw = random.Random(1)
    prompts = [[draw.randrange(model.tokens) for _ in range(draw.randint(1, LONGEST))] for _ in range(PROMPTS)]
    # Those that stand in prompts alone have the numbers of others.
    words = [token % model.tokens for token in json.load(post("/tokenize", {"content": WORDS}))["tokens"]]
    chat = {"messages": [{"role": "user", "content": WORDS}]}
    return [*(({"prompt": prompt}, prompt) for prompt in prompts), ({"prompt": WORDS}, words), (chat, words)]


def main():
    model = Model()
    asked = questions(model)
    with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
        answers = list(pool.map(streamed, [question for question, _ in asked]))
    held = [(answer, model.greedy(prompt, NEW)) for answer, (_, prompt) in zip(answers, asked)]
    margins = [margin for _, wanted in held for _, margin in wanted]
    different = 0
    for number, (answer, wanted) in enumerate(held):
        # After a token that is another one, all that follow are of another text.
        place = next((place for place, (token, _) in enumerate(wanted) if token != answer[place]), None)
        if place is not None:
            different += 1
            print(f"stream {number}, token {place}: {answer[place]}, and not {wanted[place][0]}, which is {wanted[place][1]:.2g} above the next")
    distinct = len({token for answer in answers for token in answer})
    print(f"{len(held)} streams of {NEW} tokens, {distinct} of them distinct: {len(held) - different} the same, {different} not")
    print(f"the largest logit is {min(margins):.2g} above the next or more, {numpy.median(margins):.2g} in the median")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
