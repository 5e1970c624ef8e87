from __future__ import annotations

import copy
import pickle

import pytest

from blender_dp.errors import ParameterError
from blender_dp.sampling import secret
from blender_dp.sampling.secret import Secret, restored_secret


def test_a_secret_comes_from_the_entropy_module(monkeypatch):
    drawn = []
    monkeypatch.setattr(secret, "system_bytes", lambda count: drawn.append(count) or b"s" * count)
    assert Secret().value == b"s" * 32
    assert drawn == [32]
    monkeypatch.undo()
    assert Secret().value != Secret().value


def test_a_secret_cannot_be_made_from_a_callers_bytes():
    with pytest.raises(TypeError):
        Secret(bytes(32))
    with pytest.raises(AttributeError):
        Secret().value = bytes(32)
    with pytest.raises(TypeError, match="subclass"):
        type("Mine", (Secret,), {"value": bytes(32)})


def test_a_secret_is_neither_shown_nor_copied():
    secret = Secret()
    assert secret.value.hex() not in f"{secret!r} {secret}"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="secret"):
            copied(secret)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_stored_secret_of_another_length_is_refused(length):
    with pytest.raises(ParameterError, match=f"has {length} bytes"):
        restored_secret(bytes(length))


def test_derived_keys_depend_on_the_secret_and_the_purpose():
    secret = Secret()
    assert secret.derive(b"one") == restored_secret(secret.value).derive(b"one")
    assert len({secret.derive(b"one"), secret.derive(b"two"), Secret().derive(b"one")}) == 3
