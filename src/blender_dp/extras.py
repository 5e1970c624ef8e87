"""Optional dependencies: which modules each extra installs, and one clear error when they are missing."""

from __future__ import annotations

from importlib.util import find_spec

from blender_dp.errors import MissingExtraError

EXTRAS = {
    "collector": (
        "alembic",
        "brotli",
        "dp_accounting",
        "fastapi",
        "msgspec",
        "prometheus_client",
        "psycopg",
        "rfc8785",
        "segno",
        "sqlalchemy",
        "uvicorn",
    ),
    "pandas": ("pandas",),
    "plots": ("jinja2", "vl_convert"),
    "polars": ("polars",),
    "spark": ("pyspark",),
    "tracing": ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"),
}
"""The modules of every extra in pyproject.toml."""


def needs(extra: str) -> None:
    """Raise `MissingExtraError` unless everything that the extra installs can be imported.

    Called at the top of each package that depends on the extra, so that every entry point (a command or an
    import) fails with the same message, whichever module would have been imported first.
    """
    for module in EXTRAS[extra]:
        if not is_installed(module):
            raise MissingExtraError(extra, module)


def is_installed(module: str) -> bool:
    """Whether a module can be imported; it is not imported to find out."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a parent package of the module is missing
        return False
