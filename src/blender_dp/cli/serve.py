"""blender-dp serve"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from blender_dp.cli.output import say
from blender_dp.errors import ParameterError


def serve(
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings as TOML; see docs/collector.md.")] = None,
    data: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the database and the signing key are.")] = None,
    keys: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Where the keys of raw records are.")] = None,
    database: Annotated[str | None, typer.Option(metavar="URL", help="PostgreSQL, instead of SQLite in the folder.")] = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    workers: Annotated[int | None, typer.Option(metavar="N", help="Processes.")] = None,
    migrate_only: Annotated[bool, typer.Option("--migrate-only", help="Bring the tables up to date, and stop.")] = False,
) -> None:
    """Run the collector: it enrols, collects, lists, takes reports, blends and publishes, round by round.

    Without any setting it keeps everything in ./collector-data, and prints the operator's token. Every setting can also
    be given as an environment variable (BLENDER_DP_PORT=8080) or in a TOML file.

    \b
    Examples:
      blender-dp serve
      blender-dp serve --data /var/lib/blender-dp --port 8080
      blender-dp serve --database postgresql://blender@db/blender --workers 4
    """
    try:
        import uvicorn

        from blender_dp.collector.documents import Signer
        from blender_dp.collector.run import migrated, prepare
    except ModuleNotFoundError as error:
        fix = "Install the extra: pip install 'blender-dp[collector]'"
        raise ParameterError("serve", f"needs {error.name}, which is not installed", fix) from None
    from blender_dp.collector.settings import load

    flags = {"data": data, "keys": keys, "database": database, "host": host, "port": port, "workers": workers}
    chosen = load(config, flags)
    if migrate_only:
        migrated(chosen).close()
        say("The tables are up to date.")
        return
    prepare(chosen, _tell)
    say(f"The collector listens on http://{chosen.host}:{chosen.port}, with its data in {chosen.data}.")
    say(f"Devices pin its key: {Signer.load(chosen.signing_key).public}")
    uvicorn.run(
        "blender_dp.collector.run:app",
        factory=True,
        host=chosen.host,
        port=chosen.port,
        workers=chosen.workers,
        access_log=False,  # it would keep addresses
        log_level="warning",
        server_header=False,
        forwarded_allow_ips=chosen.trusted_proxies,
        timeout_graceful_shutdown=30,
    )


def _tell(token: str) -> None:
    say("The operator's token, shown once:")
    typer.echo(f"export BLENDER_DP_TOKEN={token}")
