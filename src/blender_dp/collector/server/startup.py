"""Starting the service in each of its processes."""

from __future__ import annotations

import atexit
import gc
import os

from fastapi import FastAPI

from blender_dp.collector.http.app import create_app
from blender_dp.collector.monitoring.log_lines import log_to_stderr
from blender_dp.collector.settings.settings import SETTINGS_VARIABLE, Settings

_NEW_OBJECTS = 20_000  # between garbage collections: far more than a request with one report creates


def app() -> FastAPI:
    """The application, in each of the processes."""
    settings = Settings.model_validate_json(os.environ[SETTINGS_VARIABLE])
    log_to_stderr(as_json=settings.log_format == "json")
    application = create_app(settings)
    # What is loaded now is never freed. Scanning it at every garbage collection would cost more than the requests do.
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # otherwise libraries complain on stderr about objects that are never freed
    gc.set_threshold(_NEW_OBJECTS)
    return application
