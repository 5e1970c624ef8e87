"""What is prepared once before the processes start: folder, tables, keys and the operator's token."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing

from blender_dp.collector.rounds.date_correction import redate
from blender_dp.collector.rounds.ledger import Ledger
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.identity import own_signer
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.ledger_journal import Journal
from blender_dp.collector.settings.settings import SETTINGS_VARIABLE, Settings
from blender_dp.collector.storage import locks, token_rows
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.store import Store
from blender_dp.extras import needs


def migrated(settings: Settings) -> Store:
    """The database with all its tables, in a folder that exists."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store.open(settings.database_url)
    migrate(store)
    return store


def correct_dates(settings: Settings) -> int:
    """Correct the dates that a wrong clock has put into the future; return how many entries of the ledger had one."""
    keys = KeyFolder(settings.key_folder)
    with closing(migrated(settings)) as store:
        own_signer(store, settings.signing_key, keys)  # otherwise it might be another database's journal
        return redate(store, Journal(keys.folder), time.time())


def prepare(settings: Settings, show: Callable[[str], None]) -> None:
    """Create the folder, the tables, the keys and the operator's token.

    A new token is shown before it is stored: after a crash between the two, the next start creates and shows another one.
    The other way round, it might be stored and known to nobody.
    """
    if settings.traces:
        needs("tracing")
    keys = KeyFolder(settings.key_folder)
    with closing(migrated(settings)) as store:
        own_signer(store, settings.signing_key, keys)
        with store.write("operator") as transaction:
            store.extend_limits(transaction)
            Ledger(Journal(keys.folder)).catch_up(transaction)  # the database may be a restored backup
            locks.hold(transaction, "operator")  # of several collectors that start at once, one creates the token
            if not settings.operator_token and not token_rows.operator_digests(transaction):
                token = vault.new_token()
                token_rows.insert_operator(transaction, vault.token_digest(token))
                show(token)
    os.environ[SETTINGS_VARIABLE] = settings.model_dump_json()
