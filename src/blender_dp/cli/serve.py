"""blender-dp serve"""

from __future__ import annotations

import json
import socket
import sys
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand

from blender_dp.cli.output import say
from blender_dp.errors import MissingExtraError, StateError

if TYPE_CHECKING:
    from blender_dp.collector.settings.settings import Settings

_BACKLOG = 2048  # connections waiting to be accepted: uvicorn's own limit


class WithSettings(TyperCommand):
    """A verb whose help ends with all settings. They are loaded for the help only, since other verbs do not need them."""

    def format_help(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 (typer's signature)
        """Add the settings, if the collector's dependencies are installed."""
        with suppress(MissingExtraError):
            from blender_dp.collector.settings.settings import Settings

            self.epilog = _settings(Settings)
        super().format_help(ctx, formatter)


def _settings(model: type[Settings]) -> str:
    lines = ["All settings with their defaults. As an environment variable, port is BLENDER_DP_PORT:"]
    for name, field in model.model_fields.items():
        usual = "" if field.default in {None, ""} else f" = {field.default}"
        lines.append(escape(f"{name}{usual}: {' '.join((field.description or '').split())}"))
    return "\n\n".join(lines)


def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings as TOML; see docs/deployment.md.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", show_default="collector-data", help="Folder for the database and the signing key."),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", show_default="DATA/round-keys", help="Folder for the keys that encrypt raw records."),
    ] = None,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="PostgreSQL database to use instead of SQLite in the data folder.")
    ] = None,
    host: Annotated[str | None, typer.Option(show_default="127.0.0.1", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(show_default="8000", help="Port to listen on; 0 for any free port.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", show_default="1", help="Number of processes.")] = None,
    migrate_only: Annotated[bool, typer.Option("--migrate-only", help="Migrate the database, then exit.")] = False,
    correct_dates: Annotated[
        bool,
        typer.Option("--correct-dates", help="Change dates in the ledger that are in the future to now, then exit."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for programs, one object per line.")] = False,
) -> None:
    """Run the collector: it enrols opt-in users, makes lists, accepts reports, blends and publishes, round by round.

    By default it stores everything in ./collector-data and prints the operator's token. Every setting can also be an
    environment variable (BLENDER_DP_PORT=8080) or part of a TOML file.

    \b
    Examples:
      blender-dp serve
      blender-dp serve --data /var/lib/blender-dp --port 8080
      blender-dp serve --database postgresql://blender@db/blender --workers 4
    """
    from blender_dp.collector.secrets.signing import Signer
    from blender_dp.collector.server.preparation import correct_dates as correct
    from blender_dp.collector.server.preparation import migrated, prepare
    from blender_dp.collector.settings.settings import load
    from blender_dp.collector.storage.database_errors import readable_database_errors

    flags = {"data": data, "keys": keys, "database": database, "host": host, "port": port, "workers": workers}
    chosen = load(config, flags)
    with readable_database_errors():
        if migrate_only:
            migrated(chosen).close()
            _print({"event": "migrated"}, "The database schema is up to date.", as_json)
            return
        if correct_dates:
            count = correct(chosen)
            _print({"event": "corrected", "entries": str(count)}, f"Corrected dates in the ledger: {count}.", as_json)
            return
        with _listening_socket(
            chosen.host, chosen.port
        ) as listener:  # first: print a token only if the collector can be reached
            prepare(chosen, lambda token: _print_token(token, as_json))
            address, key = _address(chosen.host, listener), Signer.load(chosen.signing_key).public
            _print(
                {"event": "listening", "url": address, "data": str(chosen.data), "key": key},
                f"The collector listens on {address}, with its data in {chosen.data}.\n"
                f"Devices pin its key: {key}\n"
                f"Its API: {address}/v1/openapi.json\n"
                f"Its health: {address}/__heartbeat__ and, with the token, {address}/metrics",
                as_json,
            )
            _serve_requests(chosen, listener)


def _listening_socket(host: str, port: int) -> socket.socket:
    """A listening socket. Connections made before the collector is ready wait."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        why = str(error.strerror).partition(" (")[0]  # Python repeats the address
        problem = f"cannot listen on port {port} of {host} ({why})"
        raise StateError("serve", problem, "Use another --port or --host") from None


def _address(host: str, listener: socket.socket) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def _serve_requests(settings: Settings, listener: socket.socket) -> None:
    """Serve until a signal arrives."""
    from blender_dp.collector.monitoring.metrics import added_up
    from blender_dp.collector.server.processes import GRACE_SECONDS, serve

    options = {
        "app": "blender_dp.collector.server.startup:app",
        "factory": True,
        "http": "blender_dp.collector.server.bounded_protocol:BoundedProtocol",
        "ws": "none",
        "access_log": False,  # it would record addresses
        "log_config": None,  # startup.app sets it
        "log_level": "error",  # it warns about every malformed request, and anyone can send those
        "server_header": False,
        "forwarded_allow_ips": settings.trusted_proxies,
        "timeout_graceful_shutdown": GRACE_SECONDS,
    }
    with suppress(KeyboardInterrupt), added_up() if settings.workers > 1 else nullcontext():
        code = serve(options, settings.workers, listener)
        if code:
            sys.exit(code)


def _print_token(token: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"event": "token", "operator_token": token}))
        return
    say("The operator's token, shown once:")
    typer.echo(f"export BLENDER_DP_TOKEN={token}")


def _print(facts: dict[str, str], text: str, as_json: bool) -> None:
    """Print one line of JSON, or text for people."""
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        say(text)
