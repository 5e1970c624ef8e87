"""A collector does not start with files that do not belong to its database."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa

from blender_dp.collector.http.app import create_app
from blender_dp.collector.secrets import files as durable
from blender_dp.collector.secrets.keys import KeyFolder
from blender_dp.collector.server.preparation import prepare
from blender_dp.collector.settings.settings import Settings
from blender_dp.collector.storage.schema import tokens
from blender_dp.collector.storage.store import Store
from blender_dp.errors import StateError
from tests.collector.places import Place


def settings_of(place: Place, data: str = "data", **more: Path) -> Settings:
    return Settings(data=place.folder / data, database=place.url if place.server else "", **more)


def start(settings: Settings) -> list[str]:
    """The operator's tokens that were shown."""
    shown: list[str] = []
    prepare(settings, shown.append)
    return shown


def test_the_same_files_start_again(empty_place: Place) -> None:
    settings = settings_of(empty_place)
    assert len(start(settings)) == 1
    assert start(settings) == []


def test_another_data_folder_is_refused_and_no_key_is_created(postgresql: Place) -> None:
    start(settings_of(postgresql))
    other = settings_of(postgresql, "other")
    for _ in range(2):
        with pytest.raises(StateError, match=r"signing key: .* share one data folder"):
            start(other)
        with pytest.raises(StateError):
            create_app(other)
        assert not other.signing_key.exists()
        assert not other.key_folder.exists()


def test_a_signing_key_of_another_collector_is_refused(empty_place: Place, tmp_path: Path) -> None:
    settings = settings_of(empty_place)
    start(settings)
    other = Settings(data=tmp_path / "elsewhere")
    start(other)
    shutil.copy(other.signing_key, settings.signing_key)
    with pytest.raises(StateError, match="signing key"):
        start(settings)


def test_another_folder_of_keys_is_refused(empty_place: Place) -> None:
    start(settings_of(empty_place))
    empty = settings_of(empty_place, keys=empty_place.folder / "empty")
    with pytest.raises(StateError, match="key folder"):
        start(empty)
    assert not (empty_place.folder / "empty" / "folder.id").exists()
    store = Store.open(empty.database_url)  # as the documentation says for a folder that is lost for good
    with store.write("test") as connection:
        connection.execute(sa.text("DELETE FROM identity WHERE name = 'key folder'"))
    store.close()
    start(empty)
    with pytest.raises(StateError):
        start(settings_of(empty_place))


def test_a_folder_with_keys_of_another_database_is_refused(empty_place: Place, tmp_path: Path) -> None:
    settings = settings_of(empty_place)
    start(settings)
    KeyFolder(settings.key_folder).create("round")
    other = Settings(data=tmp_path / "elsewhere", keys=settings.key_folder)
    with pytest.raises(StateError, match="key folder"):
        start(other)
    assert KeyFolder(settings.key_folder).names() == ["round"]


def test_concurrent_first_starts_create_everything_once(empty_place: Place) -> None:
    settings = settings_of(empty_place)
    with ThreadPoolExecutor(6) as pool:
        made = [token for shown in pool.map(start, [settings] * 6) for token in shown]
    assert len(made) == 1
    assert sorted(path.name for path in settings.key_folder.iterdir()) == ["folder.id", "ledger.journal"]
    store = Store.open(settings.database_url)
    with store.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(tokens)) == 1
    store.close()


def test_a_start_during_the_creation_of_a_file_does_not_interfere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = KeyFolder(tmp_path), KeyFolder(tmp_path)
    real, ids = durable.write_whole, []

    def slow(handle: int, content: bytes) -> None:
        monkeypatch.setattr(durable, "write_whole", real)
        other.initialise()
        ids.append(other.id)
        real(handle, content)

    monkeypatch.setattr(durable, "write_whole", slow)
    one.initialise()
    assert ids == [one.id]  # the first one to get its name stays
    assert [path.name for path in tmp_path.iterdir()] == ["folder.id"]


def test_of_concurrent_first_starts_with_different_folders_one_wins(postgresql: Place) -> None:
    several = [settings_of(postgresql, f"data{i}") for i in range(4)]

    def begins(settings: Settings) -> bool:
        try:
            start(settings)
        except StateError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        began = list(pool.map(begins, several))
    assert began.count(True) == 1
    assert [settings.signing_key.exists() for settings in several] == began
