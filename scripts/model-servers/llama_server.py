"""llama.cpp's own HTTP server, for an ONNX file of a Llama of the zoo, until it is told to end.

    llama_server.py NAME FILE.onnx PORT THREADS
"""

import pathlib
import signal
import sys

import llama_gguf
import xllamacpp

NAME, FILE, PORT, THREADS = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:5])
# Sequences side by side; others wait.
SLOTS = 8


def asked(model, longest):
    asked = xllamacpp.CommonParams()
    asked.model.path = model
    asked.model_alias = {NAME}
    asked.hostnames = ["127.0.0.1"]
    asked.port = PORT
    asked.ui = False
    asked.cpuparams.n_threads = asked.cpuparams_batch.n_threads = THREADS
    # One cache for all, as llama-server has it: sequences that begin are then read together with those that go on.
    asked.n_parallel, asked.kv_unified, asked.n_ctx = SLOTS, True, SLOTS * longest
    # What it keeps of earlier prompts is its own to say, but for the room: of prompts that nobody sends twice it would take 8 GiB.
    asked.cache_ram_mib = 256
    # All in float32, as the graph has it: of a cache in float16, and with flash attention, tokens come out otherwise where two are near to each other.
    asked.cache_type_k = asked.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    asked.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    # Warnings and errors.
    asked.verbosity = 2
    return asked


def longest_of(model):
    """Of the sequences of the model that this makes."""
    llama = llama_gguf.read(FILE)
    llama_gguf.write(llama, NAME, model)
    return llama.longest


if __name__ == "__main__":
    model = pathlib.Path("model.gguf")
    server = xllamacpp.Server(asked(str(model), longest_of(model)))
    # It has it in memory: nothing is left on the disk, however this ends.
    model.unlink()
    # The server's own way to end leaves this process behind.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pause()
