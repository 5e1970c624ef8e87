from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from blender_dp import Entropy
from blender_dp.sampling import stream


def test_words_are_the_ciphers_keystream_across_blocks():
    entropy = Entropy.seeded(5)
    count = stream._BLOCK_BYTES // 8 * 2 + 3
    expected = Cipher(algorithms.AES256(entropy._seed), modes.CTR(bytes(16))).encryptor().update(bytes(8 * count))
    assert entropy.words(count).tobytes() == expected


def test_a_stream_does_not_depend_on_how_it_is_cut():
    whole, cut = Entropy.seeded("x"), Entropy.seeded("x")
    assert np.concatenate([cut.words(n) for n in (1, 7, 100, 3)]).tolist() == whole.words(111).tolist()


def test_seeds_repeat_and_differ():
    assert Entropy.seeded(1).words(4).tolist() == Entropy.seeded(1).words(4).tolist()
    assert Entropy.seeded(1).words(4).tolist() != Entropy.seeded(2).words(4).tolist()
    assert Entropy.seeded(1).is_seeded


def test_the_system_stream_never_repeats():
    assert not Entropy.system().is_seeded
    assert Entropy.system().words(4).tolist() != Entropy.system().words(4).tolist()


def test_the_key_comes_from_the_one_door(monkeypatch):
    asked = []
    monkeypatch.setattr(stream, "system_bytes", lambda count: asked.append(count) or bytes(count))
    assert Entropy.system().words(2).tolist() == Entropy.system().words(2).tolist()
    assert asked == [32, 32]


def test_a_failing_door_stays_shut(monkeypatch):
    def broken(count):
        raise OSError("no entropy")

    monkeypatch.setattr(stream, "system_bytes", broken)
    with pytest.raises(OSError, match="no entropy"):
        Entropy.system()


def test_a_forked_child_does_not_repeat_its_parent():
    script = (
        "import os, sys\nfrom blender_dp import Entropy\ne = Entropy.system(); e.words(1)\n"
        "child = os.fork()\nprint(e.words(2).tolist(), flush=True)\nif child: os.wait()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ)
    first, second = done.stdout.split("\n")[:2]
    assert first != second


def test_the_key_is_renewed_in_time(monkeypatch):
    keys = []
    monkeypatch.setattr(stream, "system_bytes", lambda count: keys.append(count) or os.urandom(count))
    monkeypatch.setattr(stream, "_REKEY_BYTES", 100)
    entropy = Entropy.system()
    for _ in range(3):
        entropy.words(20)
    assert len(keys) == 3


@pytest.mark.parametrize("bound", [1, 2, 3, 1000, 1 << 64, 3**60])
def test_below_stays_below(entropy, bound):
    assert all(0 <= entropy.below(bound) < bound for _ in range(50))


def test_a_stream_sent_elsewhere_is_another_one():
    entropy = Entropy.system()
    copy = pickle.loads(pickle.dumps(entropy))  # noqa: S301 (our own bytes)
    assert not copy.is_seeded
    assert copy.words(4).tolist() != entropy.words(4).tolist()
    with pytest.raises(TypeError, match="seeded stream cannot be sent"):
        pickle.dumps(Entropy.seeded(1))
