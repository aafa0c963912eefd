"""Generators of load that ours are held against, fetched once into target/peers."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers"
LOADGEN = "mlcommons-loadgen==6.0.17"


def fetch():
    if not list(PEERS.glob("mlperf_loadgen*")):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(PEERS)]
        subprocess.run([*pip, LOADGEN], check=True)
