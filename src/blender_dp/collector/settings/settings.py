"""The settings of a collector: from a file, the environment (BLENDER_DP_...) and flags; the later ones win."""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from blender_dp.collector.settings.connection_limits import ConnectionLimits
from blender_dp.collector.storage.database_url import check_postgresql_url
from blender_dp.collector.storage.report_counting import EXPORT_FROM, Counting
from blender_dp.errors import ParameterError

PREFIX = "BLENDER_DP_"
SETTINGS_VARIABLE = f"{PREFIX}SETTINGS"
"""The environment variable that passes the settings to the processes of a collector."""
_OTHERS = {"token", "url", "settings", "crash_at", "needs_browser", "needs_spark", "needs_web"}  # not settings of `serve`


class Settings(BaseModel):
    """Where a collector stores its data, and its limits."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)  # `serve --help` shows them

    data: Path = Path("collector-data")
    """Folder of the database (if it is SQLite) and the signing key."""
    keys: Path | None = None
    """Folder of the keys of raw records and of the ledger's journal, on a disk without snapshots; by default `round-keys` in
    the data folder."""
    database: str = ""
    """URL of a PostgreSQL database; by default SQLite in the data folder."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: Annotated[int, Field(ge=0, le=65_535)] = 8000
    """Port to listen on; 0: any free port."""
    workers: Annotated[int, Field(ge=1, le=64)] = 1
    """Processes. On SQLite they take turns to write, so more than one gains nothing; use PostgreSQL."""
    operator_token: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """Digest (SHA-256, hexadecimal) of the operator's token; by default a token is created and printed."""
    metrics_token: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")] = ""
    """Digest (SHA-256, hexadecimal) of a token that may only read /metrics; the operator's token may do so, too."""
    max_body_bytes: Annotated[int, Field(ge=1_000)] = 4_000_000
    """Longer bodies are refused."""
    max_body_seconds: Annotated[float, Field(gt=0)] = 30.0
    """Slower bodies are refused."""
    max_header_bytes: Annotated[int, Field(ge=1_000)] = 32_768
    """Longer request lines with headers are refused with 431."""
    max_header_seconds: Annotated[float, Field(gt=0)] = 10.0
    """Slower headers are refused with 408."""
    max_write_seconds: Annotated[float, Field(gt=0)] = 30.0
    """A client that takes longer to read the next 32 KiB of a response is disconnected."""
    max_connections: Annotated[int, Field(ge=1)] = 2_000
    """Connections of a process at a time, limited by its open files; more get 503."""
    max_reports: Annotated[int, Field(ge=1)] = 10_000
    """Reports in one request."""
    max_waiting: Annotated[int, Field(ge=1)] = 1_000
    """Requests that may wait at a time; more get 429."""
    max_waiting_bytes: Annotated[int, Field(ge=1_000)] = 128_000_000
    """Bytes of their bodies together; more get 429."""
    min_free_bytes: Annotated[int, Field(ge=0)] = 100_000_000
    """The heartbeat fails, and uploads get 507, with less free disk than this."""

    reports_per_minute: Annotated[int, Field(ge=0)] = 0
    """Reports and records that one address may send in a minute, in each process; 0: no limit. No address is stored."""
    trusted_proxies: str = "127.0.0.1"
    """Addresses of the proxies whose X-Forwarded-For is trusted, separated by commas."""

    web_pages: bool = True
    """Pages of any origin may use the routes for devices (CORS). A browser extension does not need it."""

    log_format: Annotated[str, Field(pattern="^(text|json)$")] = "text"
    """Format of the log lines on stderr: text or json."""
    traces: Annotated[str, Field(pattern="^(https?://.+)?$")] = ""
    """URL that receives OpenTelemetry traces (OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces); by default none."""
    stuck_seconds: Annotated[float, Field(gt=0)] = 1_800.0
    """The heartbeat fails when a list or a release takes longer than this."""
    source: str = ""
    """URL of the source code, for /__version__."""
    commit: str = ""
    """Commit that runs, for /__version__."""
    build: str = ""
    """URL of the build that runs, for /__version__."""

    export_from: Annotated[int, Field(ge=0)] = EXPORT_FROM
    """A round with at least this many reports is exported to Parquet in the data folder, and counted by the engine."""
    engine: Annotated[str, Field(pattern=r"^(duckdb|spark(:.+)?)$")] = "duckdb"
    """Engine that counts it: duckdb, spark or spark:MASTER. A cluster must see the data folder under the same path."""

    @field_validator("database")
    @classmethod
    def _postgresql(cls, url: str) -> str:
        if url:
            check_postgresql_url(url)
        return url

    @property
    def database_url(self) -> str:
        """The URL or path of the database."""
        return self.database or str(self.data / "collector.db")

    @property
    def signing_key(self) -> Path:
        """The file of the signing key."""
        return self.data / "signing-key.pem"

    @property
    def key_folder(self) -> Path:
        """The folder of the keys of raw records. Never back it up."""
        return self.keys or self.data / "round-keys"

    @property
    def connection_limits(self) -> ConnectionLimits:
        """Limits on each connection, and on the number of connections."""
        return ConnectionLimits(
            head_bytes=self.max_header_bytes,
            head_seconds=self.max_header_seconds,
            body_seconds=self.max_body_seconds,
            write_seconds=self.max_write_seconds,
            connections=self.max_connections,
        )

    @property
    def counting(self) -> Counting:
        """How a round's reports are counted."""
        return Counting(self.data.absolute() / "export", self.export_from, self.engine)


def load(file: Path | None, flags: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Combine file, environment and flags."""
    values: dict[str, Any] = {}
    if file is not None:
        try:
            values |= tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ParameterError("config", f"{file} cannot be read ({type(error).__name__})", "Pass a TOML file") from None
    named = {name.removeprefix(PREFIX).lower(): value for name, value in environment.items() if name.startswith(PREFIX)}
    for name in named.keys() - Settings.model_fields.keys() - _OTHERS:  # a mistyped name would silently have no effect
        raise ParameterError(f"{PREFIX}{name.upper()}", "unknown setting", _closest(name))
    values |= {name: value for name, value in named.items() if name in Settings.model_fields}
    values |= {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        problem = first["msg"].removeprefix("Value error, ")
        raise ParameterError(str(first["loc"][0]), problem, "See blender-dp serve --help") from None


def _closest(name: str) -> str:
    close = difflib.get_close_matches(name, Settings.model_fields, n=1)
    return f"Did you mean {PREFIX}{close[0].upper()}" if close else "See blender-dp serve --help"
