"""Pack a .tiktoken file as rose/data/o200k_base.xz.

    python benchmarks/pack_vocabulary.py FILE [OUT]

FILE is tiktoken's o200k_base.tiktoken, plain or gzipped; its digest must be the one that tiktoken
itself pins. Each token becomes a length byte and its bytes, in order of rank.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import lzma
import os
import sys

PINNED_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../rose/data/o200k_base.xz")


def unpacked(tiktoken_file: bytes) -> bytes:
    """Return the packed form before compression; raise ValueError if the ranks have gaps."""
    parts = []
    for expected, line in enumerate(tiktoken_file.splitlines()):
        token, rank = line.split()
        if int(rank) != expected:
            raise ValueError(f"rank {int(rank)} where {expected} was expected")
        content = base64.b64decode(token)
        parts.append(bytes([len(content)]) + content)
    return b"".join(parts)


def main(source: str, out: str) -> None:
    with open(source, "rb") as file:
        data = file.read()
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if hashlib.sha256(data).hexdigest() != PINNED_SHA256:
        sys.exit(f"{source}: not the file whose digest tiktoken pins")
    content = unpacked(data)
    packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
    with open(out, "wb") as file:
        file.write(packed)
    print(f"{out}: {len(packed)} bytes")
    print(f'UNPACKED_SHA256 = "{hashlib.sha256(content).hexdigest()}"')


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else os.path.normpath(OUT))
