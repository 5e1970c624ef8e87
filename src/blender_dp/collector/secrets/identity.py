"""Checks that the files beside a database belong to it: the signing key, and the folder with the keys of raw records.

Collectors on several machines share both. A collector with other files would sign with a key that no device pins, and would
treat a healthy round as one whose key is lost; so it does not start.
"""

from __future__ import annotations

from pathlib import Path

from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage import identity_rows, locks
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError

_SIGNING_KEY, _KEY_FOLDER = "signing key", "key folder"


def own_signer(store: Store, signing_key: Path, keys: KeyFolder) -> Signer:
    """The signer, if the files belong to the database. Only the first start creates them."""
    with store.write("identity") as transaction:
        store.extend_limits(transaction)
        locks.hold(transaction, "identity")  # of several collectors that start at once, one creates them
        known = identity_rows.all_values(transaction)
        if _SIGNING_KEY in known and not signing_key.exists():
            raise _mismatch(_SIGNING_KEY, signing_key)
        if _KEY_FOLDER not in known:
            if keys.names():  # they belong to rounds of another database, and would seem to be left over
                raise _mismatch(_KEY_FOLDER, keys.folder)
            keys.initialise()
        signer = Signer.load(signing_key)
        present = {_SIGNING_KEY: signer.public, _KEY_FOLDER: keys.id or ""}
        for name, path in ((_SIGNING_KEY, signing_key), (_KEY_FOLDER, keys.folder)):
            if known.get(name, present[name]) != present[name]:
                raise _mismatch(name, path)
        identity_rows.insert_new(transaction, present)
    return signer


def _mismatch(name: str, path: Path) -> StateError:
    problem = f"{path} is not the one that this database was used with"
    fix = "Let all collectors of a database share one data folder and one key folder, or restore it"
    return StateError(name, problem, f"{fix}; see docs/deployment.md")
