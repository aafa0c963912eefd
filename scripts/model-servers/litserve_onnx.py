"""Text by OpenAI's HTTP, made with ONNX Runtime: a server of LitServe, for a model of tokens, or one whose output is taken as an embedding.

    litserve_onnx.py text|embedding FILE.onnx PORT THREADS PARENT

A word is a token, by its hash: what the text says is nobody's concern here. Every step reads the whole sequence, without a cache.
"""

import os
import signal
import sys
import threading
import time
import zlib

import litserve
import numpy
import onnxruntime
from litserve.specs.openai_embedding import OpenAIEmbeddingSpec

KIND, FILE, PORT, THREADS, PARENT = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])


class Model:
    def __init__(self):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        self.session = onnxruntime.InferenceSession(FILE, options, providers=["CPUExecutionProvider"])
        self.words = 1000

    def run(self, tokens):
        feeds = {}
        for port in self.session.get_inputs():
            values = {"attention_mask": [1] * len(tokens), "position_ids": range(len(tokens)), "token_type_ids": [0] * len(tokens)}
            feeds[port.name] = numpy.array([list(values.get(port.name, tokens))], dtype=numpy.int64)
        return self.session.run(None, feeds)[0]

    def tokens(self, text):
        return [zlib.crc32(word.encode()) % self.words for word in text.split()]


class Text(litserve.LitAPI):
    def setup(self, device):
        self.model = Model()

    def decode_request(self, request):
        return self.model.tokens(" ".join(message.content for message in request.messages))

    def predict(self, tokens, context):
        for number in range(context.get("max_tokens") or 16):
            tokens.append(int(self.model.run(tokens)[0, -1].argmax()))
            yield {"content": f"{tokens[-1]} ", "completion_tokens": number + 1, "prompt_tokens": 0, "total_tokens": 0}


class Embedding(litserve.LitAPI):
    def setup(self, device):
        self.model = Model()

    def predict(self, texts):
        texts = [texts] if isinstance(texts, str) else texts
        return [self.model.run(self.model.tokens(text))[0].mean(axis=0).tolist() for text in texts]


def end_with(parent):
    """LitServe leaves processes behind where it is ended: all of its group end when whoever started it is gone."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=end_with, args=[PARENT], daemon=True).start()
    api = {"text": Text(spec=litserve.OpenAISpec()), "embedding": Embedding(spec=OpenAIEmbeddingSpec())}[KIND]
    litserve.LitServer(api, accelerator="cpu", timeout=60).run(host="127.0.0.1", port=PORT, generate_client_file=False, log_level="warning")
