"""Audio files that players accept and that no two episodes share, from the first bytes to the last."""
import functools
import hashlib
import random

# MPEG 1, layer III, 128 kbit/s, 44.1 kHz, stereo. A frame whose side information is all zero is silence, and what follows
# that is padding, which players skip: it has the episode's own bytes.
FRAME, HEAD = 417, bytes([0xFF, 0xFB, 0x90, 0x64]) + bytes(32)


@functools.lru_cache(maxsize=4096)
def audio(key, frames):
    """The bytes of one version of one episode.

    key: tells it from all others. frames: its length, in frames of 417 bytes.
    """
    # Below 0x80, so that none of it looks like the begin of a frame.
    filling = random.Random(key).randbytes(frames * (FRAME - len(HEAD))).translate(bytes(i & 0x7F for i in range(256)))
    step = FRAME - len(HEAD)
    return b"".join(HEAD + filling[i * step:(i + 1) * step] for i in range(frames))


def sha256(data):
    return hashlib.sha256(data).hexdigest()
