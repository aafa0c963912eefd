"""How late AIPerf issues requests, at a server on loopback that answers at once.

AIPerf is given a trace, whose times say when each request is due, and tells when it handed each to a worker and when that began to send it. When it
took the trace to begin it does not tell: the request that was the least late counts as in time, so that AIPerf was at least as late as is told here.
"""

import asyncio
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from peers import PEERS_AIPERF

SEED = 7
# What a cached download of a tokenizer would be called. AIPerf wants one, and fetches others from where nothing may be fetched.
TOKENIZER, REVISION = "local/words", "0" * 40

BODY = json.dumps(
    {
        "id": "1",
        "object": "text_completion",
        "created": 0,
        "model": "none",
        "choices": [{"index": 0, "text": "a", "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
).encode()
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY


class AtOnce(asyncio.Protocol):
    """Answers each request of a connection with the same."""

    def connection_made(self, transport):
        self.transport, self.came = transport, b""

    def data_received(self, data):
        self.came += data
        while True:
            head, end, rest = self.came.partition(b"\r\n\r\n")
            lines = (line.lower().partition(b":") for line in head.split(b"\r\n"))
            length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
            if not end or len(rest) < length:
                return
            self.came = rest[length:]
            self.transport.write(REPLY)


async def serve():
    server = await asyncio.get_running_loop().create_server(AtOnce, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # It ends with whoever started it.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def write_trace(file, rate, seconds):
    """Poisson arrivals; returns when each is due, in nanoseconds."""
    chance, at, due = random.Random(SEED), 0.0, []
    with file.open("w") as out:
        for _ in range(int(rate * seconds)):
            at += chance.expovariate(rate)
            due.append(at * 1e9)
            out.write(json.dumps({"timestamp": at * 1e3, "text_input": "hello", "output_length": 1}) + "\n")
    return due


def write_tokenizer(home):
    cache = home / "hub" / f"models--{TOKENIZER.replace('/', '--')}"
    snapshot = cache / "snapshots" / REVISION
    snapshot.mkdir(parents=True)
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text(REVISION)
    words = {"type": "WordLevel", "vocab": {"[UNK]": 0, "hello": 1, "a": 2}, "unk_token": "[UNK]"}
    unset = ["truncation", "padding", "normalizer", "post_processor", "decoder"]
    tokenizer = {"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}, "model": words} | dict.fromkeys(unset)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]", "bos_token": "[UNK]", "eos_token": "[UNK]"}
    (snapshot / "tokenizer.json").write_text(json.dumps(tokenizer))
    (snapshot / "tokenizer_config.json").write_text(json.dumps(config))


def late(rate, seconds):
    """Microseconds from when requests were due to when AIPerf issued them, and from then to when a worker began to send each."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        due = write_trace(folder / "trace.jsonl", rate, seconds)
        write_tokenizer(folder / "hf")
        environment = {**os.environ, "PYTHONPATH": str(PEERS_AIPERF), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"}
        server = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with server:
            address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            command = f"""-m aiperf profile --model none --tokenizer {TOKENIZER} --endpoint-type completions --url {address}
                --input-file trace.jsonl --custom-dataset-type mooncake_trace --fixed-schedule --use-server-token-count
                --ui none --export-level records --artifact-dir out"""
            done = subprocess.run([sys.executable, *command.split()], cwd=folder, env=environment, capture_output=True, text=True, timeout=180 + seconds)
            server.stdin.close()
        records = folder / "out" / "profile_export.jsonl"
        if done.returncode != 0 or not records.is_file():
            sys.exit(f"aiperf ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        requests = [json.loads(line)["metadata"] for line in records.read_text().splitlines()]
    if len(requests) != len(due):
        sys.exit(f"aiperf tells of {len(requests)} requests of {len(due)}")
    begin = min(request["credit_issued_ns"] - due[request["session_num"]] for request in requests)
    issued = sorted((request["credit_issued_ns"] - due[request["session_num"]] - begin) / 1e3 for request in requests)
    return issued, sorted((request["request_start_ns"] - request["credit_issued_ns"]) / 1e3 for request in requests)


if __name__ == "__main__":
    asyncio.run(serve())
