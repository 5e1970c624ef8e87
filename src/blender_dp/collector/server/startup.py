"""Starting the collector: once for all processes, and then once in each of them."""

from __future__ import annotations

import atexit
import gc
import os
import time
from collections.abc import Callable
from contextlib import closing

import sqlalchemy as sa
from fastapi import FastAPI

from blender_dp.collector.http.app import create_app
from blender_dp.collector.monitoring.log_lines import log_to_stderr
from blender_dp.collector.rounds.date_correction import redate
from blender_dp.collector.secrets import vault
from blender_dp.collector.secrets.identity import own_signer
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.secrets.ledger_journal import Journal, catch_up
from blender_dp.collector.settings.settings import PREFIX, Settings
from blender_dp.collector.storage.migrate import migrate
from blender_dp.collector.storage.schema import tokens
from blender_dp.collector.storage.store import Store
from blender_dp.extras import needs

_HANDED_ON = f"{PREFIX}SETTINGS"
_NEW_OBJECTS = 20_000  # until garbage is looked for: more than a request with one report makes, by far


def migrated(settings: Settings) -> Store:
    """The database with all its tables, in a folder that is there."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = Store.open(settings.database_url)
    migrate(store)
    return store


def corrected(settings: Settings) -> int:
    """Correct the dates that a clock has put into the future; how many of the ledger's they were."""
    keys = KeyFolder(settings.key_folder)
    with closing(migrated(settings)) as store:
        own_signer(store, settings.signing_key, keys)  # or else it might be another database's journal
        return redate(store, Journal(keys.folder), time.time())


def prepare(settings: Settings, tell: Callable[[str], None]) -> None:
    """Make the folder, the tables, the keys and the operator's token.

    A new token is told before it is kept: after a crash between the two, the next start makes and tells another one. The
    other way round, it might be kept and known to nobody.
    """
    if settings.traces:
        needs("tracing")
    keys = KeyFolder(settings.key_folder)
    with closing(migrated(settings)) as store:
        own_signer(store, settings.signing_key, keys)
        with store.write("operator") as connection:
            store.take_time(connection)
            catch_up(store, connection, Journal(keys.folder))  # the database may be a backup that was put back
            store.hold(connection, "operator")  # of several that are started at once, one makes the token
            known = connection.scalar(sa.select(sa.func.count()).where(tokens.c.role == "operator"))
            if not settings.operator_token and not known:
                token = vault.new_token()
                row = {"digest": vault.token_digest(token), "role": "operator", "campaign": None, "created": 0}
                connection.execute(tokens.insert(), row)
                tell(token)
    os.environ[_HANDED_ON] = settings.model_dump_json()


def app() -> FastAPI:
    """The service, in each of its processes."""
    settings = Settings.model_validate_json(os.environ[_HANDED_ON])
    log_to_stderr(as_json=settings.log_format == "json")
    made = create_app(settings)
    # What was loaded stays. Looked through for garbage again and again, it would cost more than the requests do.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # or else libraries complain on stderr about objects that are never freed
    gc.set_threshold(_NEW_OBJECTS)
    return made
