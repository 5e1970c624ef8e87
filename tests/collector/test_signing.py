"""The collector's signing key."""

from __future__ import annotations

import pytest

from blender_dp.collector.secrets.signing import Signer
from blender_dp.errors import DocumentError


class TestSigner:
    def test_only_the_owner_can_read_the_key(self, tmp_path):
        made = Signer.load(tmp_path / "a/key.pem")
        assert (tmp_path / "a/key.pem").stat().st_mode & 0o777 == 0o600
        assert Signer.load(tmp_path / "a/key.pem").public == made.public

    @pytest.mark.parametrize("content", [b"", b"nonsense"])
    def test_a_damaged_key_is_not_replaced(self, tmp_path, content):
        (tmp_path / "key.pem").write_bytes(content)
        with pytest.raises(DocumentError, match="not an Ed25519 key"):
            Signer.load(tmp_path / "key.pem")
        assert (tmp_path / "key.pem").read_bytes() == content
