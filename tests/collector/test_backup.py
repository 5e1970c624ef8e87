"""A copy of the database alone reveals nothing about raw records, and after the list they exist nowhere."""

from __future__ import annotations

import contextlib
import itertools
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from blender_dp.collector.rounds.facade import Rounds
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.storage.schema import metadata, records
from blender_dp.errors import DocumentError
from blender_dp_device.records.record import Record
from tests.collector.places import Place, listed, uploaded

CANARY = "canary-7f3a"


def with_canary(rounds: Rounds) -> tuple[str, list[bytes]]:
    """A round with a rare query; its id, and the records as they are stored."""
    made = uploaded(rounds, users=12, delta="1e-9")
    for token in rounds.tokens.enrol(made.campaign, 1):  # only one user has it: the threshold keeps it out of the list
        rounds.contributions.upload_record(made.round, token, CANARY, f"https://{CANARY}.example/")
    with rounds.store.read() as connection:
        return made.round, [bytes(one) for one in connection.scalars(sa.select(records.c.sealed))]


def all_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def values(rounds: Rounds) -> list[bytes]:
    """Everything in the database."""
    found: set[bytes] = set()
    with rounds.store.read() as connection:
        for table in metadata.sorted_tables:
            for value in itertools.chain.from_iterable(connection.execute(sa.select(table)).all()):
                found.add(value if isinstance(value, bytes) else str(value).encode())
    return sorted(found)


def keys_from(value: bytes) -> set[bytes]:
    """What a thief would try as a key: the bytes, and the bytes that the text writes."""
    tried = {value[i : i + 32] for i in range(max(len(value) - 31, 0))}
    with contextlib.suppress(ValueError):
        tried.add(bytes.fromhex(value.decode()))
    return {one for one in tried if len(one) == 32}


@pytest.mark.parametrize("frozen", [False, True])
def test_a_backup_alone_decrypts_nothing(place: Place, tmp_path: Path, frozen: bool) -> None:
    rounds = place.rounds()
    name, sealed = with_canary(rounds)
    if frozen:
        rounds.lifecycle.freeze(name)
    place.close()
    backup = place.copy(tmp_path / "backup")
    shutil.rmtree(backup.folder / "keys")
    thief = backup.rounds()
    contents = values(thief)
    tried = set().union(*map(keys_from, contents)) | {bytes(32)}
    assert len(tried) > 1000
    with thief.store.read() as connection:
        owners = connection.execute(sa.select(records.c.owner, records.c.sealed)).all()
    owner, one = owners[0]
    for key in tried:
        with pytest.raises(InvalidTag):
            AESGCM(key).decrypt(bytes(one)[:12], bytes(one)[12:], f"{name}/{owner}".encode())
    assert all(CANARY.encode() not in value for value in contents)
    with pytest.raises(DocumentError):
        thief.keys.read(name)
    key = rounds.keys.read(name)  # it can be decrypted with the key: the test would notice
    assert vault.unseal_record(key, f"{name}/{owner}", bytes(one))[0]
    # The list is made where the key is; after that, even the key folder does not help.
    rounds.lifecycle.freeze(name)
    rounds.lists.make(name)
    with pytest.raises(DocumentError):
        rounds.keys.read(name)
    assert len(sealed) == 13
    # The restored copy cannot continue, says so, and can be aborted.
    if frozen:
        with pytest.raises(DocumentError):
            thief.schedule.advance_due()
    thief.lifecycle.abort(name, "restored without its key")
    assert thief.lookup.round(name).state == "aborted"
    backup.close()


def test_after_the_list_is_made_no_raw_record_is_in_the_files(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    name, sealed = with_canary(rounds)
    before = all_bytes(sqlite.folder)
    assert CANARY.encode() not in before
    assert all(one in before for one in sealed)  # the search finds them while they exist
    key = rounds.keys.read(name)
    assert key in before
    rounds.lifecycle.freeze(name)
    rounds.lists.make(name)
    after = all_bytes(sqlite.folder)
    assert CANARY.encode() not in after
    assert not any(one[12:44] in after for one in sealed)  # neither in the database nor in its write-ahead log
    assert key not in after


def test_withdrawn_and_aborted_records_are_gone_from_the_files(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    made = uploaded(rounds)
    with rounds.store.read() as connection:
        sealed = {row.receipt: bytes(row.sealed) for row in connection.execute(sa.select(records))}
    withdrawn = sealed.pop(vault.token_digest(made.receipts[3]))
    assert withdrawn in all_bytes(sqlite.folder)
    assert rounds.contributions.withdraw(made.receipts[3])
    after = all_bytes(sqlite.folder)
    assert withdrawn[12:44] not in after
    assert all(one in after for one in sealed.values())
    rounds.lifecycle.abort(made.round, "enough")
    after = all_bytes(sqlite.folder)
    assert not any(one[12:44] in after for one in sealed.values())


def test_deleted_reports_are_gone_from_the_files(sqlite: Place) -> None:
    rounds = sqlite.rounds()
    made = listed(rounds)
    ids = [f"report {i:09}".encode() for i in range(20)]
    rounds.contributions.add_reports(made.round, [(one, bytes(4)) for one in ids])
    rounds.lifecycle.close(made.round)
    rounds.releases.make(made.round)
    assert all(one in all_bytes(sqlite.folder) for one in ids)
    assert rounds.retention.delete_reports() == 20
    assert not any(one in all_bytes(sqlite.folder) for one in ids)


def test_a_record_can_only_be_decrypted_in_its_place() -> None:
    key = vault.new_key()
    sealed = vault.seal_record(key, "round/owner", Record("query", None))
    assert vault.unseal_record(key, "round/owner", sealed) == ("query", None)
    for place, content, opener in (
        ("round/other", sealed, key),
        ("round/owner", sealed[:-1] + bytes([sealed[-1] ^ 1]), key),
        ("round/owner", sealed, vault.new_key()),
        ("round/owner", b"", key),
        ("round/owner", sealed[:20], key),
    ):
        with pytest.raises(DocumentError):
            vault.unseal_record(opener, place, content)


def test_keys(tmp_path: Path) -> None:
    keys = KeyFolder(tmp_path / "keys")
    assert keys.names() == []
    keys.destroy("none")
    keys.create("one")
    assert len(keys.read("one")) == 32
    assert (tmp_path / "keys" / "one.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    with pytest.raises(FileExistsError):
        keys.create("one")
    held = (tmp_path / "keys" / "one.key").open("rb")
    keys.destroy("one")
    assert held.read() == bytes(32)  # overwritten, not only unlinked
    held.close()
    assert keys.names() == []


@pytest.mark.parametrize("content", [b"", b"short", bytes(32)], ids=["empty", "cut short", "overwritten, not removed"])
def test_an_invalid_key_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    keys = KeyFolder(tmp_path)
    (tmp_path / "one.key").write_bytes(content)
    with pytest.raises(DocumentError):
        keys.read("one")
