"""Generators of load that ours are held against, each fetched once: LoadGen into target/peers, AIPerf (1.2 GB) into target/peers-aiperf."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = ROOT / "target" / "peers"
LOADGEN = "mlcommons-loadgen==6.0.17"
PEERS_AIPERF = ROOT / "target" / "peers-aiperf"
AIPERF = "aiperf==0.13.0"


def fetch():
    if not list(PEERS.glob("mlperf_loadgen*")):
        install(LOADGEN, PEERS)


def fetch_aiperf():
    if not (PEERS_AIPERF / "complete").exists():
        install(AIPERF, PEERS_AIPERF)
        (PEERS_AIPERF / "complete").touch()


def install(package, folder):
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), package], check=True)
