from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from blender_dp import Entropy
from blender_dp.errors import ParameterError
from blender_dp.sampling import stream
from blender_dp.sampling.secret import Secret, restored_secret


def test_words_are_the_ciphers_keystream_across_blocks():
    entropy = Entropy.seeded(5)
    count = stream._BLOCK_BYTES // 8 * 2 + 3
    expected = Cipher(algorithms.AES256(entropy._source.value), modes.CTR(bytes(16))).encryptor().update(bytes(8 * count))
    assert entropy.words(count).tobytes() == expected


def test_a_stream_does_not_depend_on_the_size_of_the_reads():
    whole, cut = Entropy.seeded("x"), Entropy.seeded("x")
    assert np.concatenate([cut.words(n) for n in (1, 7, 100, 3)]).tolist() == whole.words(111).tolist()


def test_seeds_repeat_and_differ():
    assert Entropy.seeded(1).words(4).tolist() == Entropy.seeded(1).words(4).tolist()
    assert Entropy.seeded(1).words(4).tolist() != Entropy.seeded(2).words(4).tolist()
    assert Entropy.seeded(1).is_seeded


def test_the_system_stream_never_repeats():
    assert not Entropy.system().is_seeded
    assert Entropy.system().words(4).tolist() != Entropy.system().words(4).tolist()


def test_the_key_comes_from_the_entropy_module(monkeypatch):
    asked = []
    monkeypatch.setattr(stream, "system_bytes", lambda count: asked.append(count) or bytes(count))
    assert Entropy.system().words(2).tolist() == Entropy.system().words(2).tolist()
    assert asked == [32, 32]


def test_a_failing_entropy_source_is_an_error(monkeypatch):
    def broken(count):
        raise OSError("no entropy")

    monkeypatch.setattr(stream, "system_bytes", broken)
    with pytest.raises(OSError, match="no entropy"):
        Entropy.system()


FORK = """
import os
from blender_dp import Entropy
from blender_dp.sampling.secret import Secret
from blender_dp.errors import BlenderError
stream = {stream}
stream.words(1)
child = os.fork()
try:
    said = stream.words(2).tolist()
except BlenderError as error:
    said = error
os.write(1, f"{{said}}\\n".encode())
if child:
    os.wait()
"""


SAME_NUMBER = "import os; os.getpid = lambda: 1"
"""In containers the parent and a child in a namespace of its own can both be process 1; and numbers are used again."""


def forked(stream, before=""):
    """The words that a parent and its forked child get from one stream."""
    script = [sys.executable, "-c", before + FORK.format(stream=stream)]
    return subprocess.run(script, capture_output=True, text=True, check=True, env=os.environ).stdout.splitlines()


@pytest.mark.parametrize("before", ["", SAME_NUMBER])
def test_a_forked_child_does_not_repeat_its_parent(before):
    first, second = forked("Entropy.system()", before)
    assert first != second
    assert first.startswith("[")
    assert second.startswith("[")


@pytest.mark.parametrize("before", ["", SAME_NUMBER])
@pytest.mark.parametrize("stream", ["Entropy.seeded(1)", "Entropy.from_secret(Secret())"])
def test_a_forked_child_cannot_use_a_repeatable_stream(stream, before):
    words, refused = sorted(forked(stream, before))  # "[" comes before letters
    assert words.startswith("[")
    assert refused.startswith("entropy: belongs to another process")


def test_the_key_is_renewed_in_time(monkeypatch):
    keys = []
    monkeypatch.setattr(stream, "system_bytes", lambda count: keys.append(count) or os.urandom(count))
    monkeypatch.setattr(stream, "_REKEY_BYTES", 100)
    entropy = Entropy.system()
    for _ in range(3):
        entropy.words(20)
    assert len(keys) == 3


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 1 << 64, 3**60])
def test_integers_stay_below_their_bound(entropy, bound):
    assert all(0 <= entropy.below(bound) < bound for _ in range(50))


def test_a_pickled_stream_gets_a_new_key():
    entropy = Entropy.system()
    copy = pickle.loads(pickle.dumps(entropy))  # noqa: S301 (our own bytes)
    assert not copy.is_seeded
    assert copy.words(4).tolist() != entropy.words(4).tolist()
    with pytest.raises(TypeError, match="seeded stream cannot be sent"):
        pickle.dumps(Entropy.seeded(1))


def test_a_secret_repeats_its_stream_and_is_not_a_seed():
    secret = Secret()
    stream = Entropy.from_secret(secret)
    assert not stream.is_seeded
    assert stream.repeats
    assert stream.words(4).tolist() == Entropy.from_secret(restored_secret(secret.value)).words(4).tolist()
    assert stream.words(4).tolist() != Entropy.from_secret(Secret()).words(4).tolist()


@pytest.mark.parametrize("own", [bytes(32), b"x", "text", None, 5])
def test_a_callers_bytes_are_never_accepted_as_a_secret(own):
    with pytest.raises(ParameterError, match="secret"):
        Entropy.from_secret(own)
    with pytest.raises(ParameterError, match="source"):
        Entropy(own if own is not None else "none")
    assert not hasattr(Entropy, "fixed")
