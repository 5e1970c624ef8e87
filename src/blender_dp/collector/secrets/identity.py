"""Whether the files beside a database are its own: the signing key, and the folder of the raw records' keys.

Collectors on several machines share both. One with other files would sign with a key that no device pins, and would take
a healthy round for one whose key is lost; so it does not start.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.signing import Signer
from blender_dp.collector.storage.schema import identity
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError

_SIGNING_KEY, _KEY_FOLDER = "signing key", "key folder"


def own_signer(store: Store, signing_key: Path, keys: KeyFolder) -> Signer:
    """The signer, if the files are the database's own. The first start makes them; no later one ever does."""
    with store.write("identity") as connection:
        store.take_time(connection)
        store.hold(connection, "identity")  # of several that are started at once, one makes them
        known = {row.name: row.value for row in connection.execute(sa.select(identity))}
        if _SIGNING_KEY in known and not signing_key.exists():
            raise _another(_SIGNING_KEY, signing_key)
        if _KEY_FOLDER not in known:
            if keys.names():  # of rounds of another database, which would seem to be left over
                raise _another(_KEY_FOLDER, keys.folder)
            keys.found()
        signer = Signer.load(signing_key)
        found = {_SIGNING_KEY: signer.public, _KEY_FOLDER: keys.id}
        for name, path in ((_SIGNING_KEY, signing_key), (_KEY_FOLDER, keys.folder)):
            if known.get(name, found[name]) != found[name]:
                raise _another(name, path)
        store.insert_new(connection, identity, [{"name": name, "value": value} for name, value in found.items()])
    return signer


def _another(name: str, path: Path) -> StateError:
    problem = f"{path} is not the one that this database was used with"
    fix = "Let all collectors of a database share one data folder and one folder of keys, or restore it"
    return StateError(name, problem, f"{fix}; see docs/deployment.md")
