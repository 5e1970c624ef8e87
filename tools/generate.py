"""Write all generated files: vectors, schemas, the TypeScript client's tables, the command reference, the README."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from typer.core import TyperGroup
from typer.main import get_command

from blender_dp.cli.app import app
from blender_dp.collector.http.app import bare_app
from blender_dp.invitation import Invitation
from blender_dp.release.document import json_schema
from blender_dp.report import theme
from blender_dp_device.records.head_list import CHANNEL_SCHEMA
from blender_dp_device.records.head_list import SCHEMA as NAMES_SCHEMA
from blender_dp_device.records.reporting_list import LARGEST
from blender_dp_device.wire import messages

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from capacity import page as capacity_page  # noqa: E402
from hostile_collectors.table import hostile_collectors  # noqa: E402
from import_graph import graph_pictures, graph_section  # noqa: E402
from vectors.accounts import account_vectors  # noqa: E402
from vectors.bodies import body_vectors  # noqa: E402
from vectors.channels import local_alg_vectors, subset_vectors  # noqa: E402
from vectors.characters import character_vectors  # noqa: E402
from vectors.digests import digest_vectors  # noqa: E402
from vectors.invitations import invitation_vectors  # noqa: E402
from vectors.rejections import rejection_vectors  # noqa: E402
from vectors.search import search_vectors  # noqa: E402
from vectors.signatures import signature_vectors  # noqa: E402
from web_tables import web_tables  # noqa: E402
from web_types import api_types, web_types  # noqa: E402

VECTORS = {
    "local_alg": local_alg_vectors,
    "subset": subset_vectors,
    "signatures": signature_vectors,
    "digests": digest_vectors,
    "rejections": rejection_vectors,
    "bodies": body_vectors,
    "accounts": account_vectors,
    "search": search_vectors,
    "invitations": invitation_vectors,
    "characters": character_vectors,
}
"""The generated vectors; those of the canonical form and of the personal filter are written by hand."""

MESSAGES = {
    "current": messages.Pointer,
    "reports": messages.ReportsMessage,
    "reports-answer": messages.ReportsAnswer,
    "record": messages.RecordMessage,
    "record-answer": messages.RecordAnswer,
    "invitation": Invitation,
    "signed-document": messages.SignedDocument,
    "content-opening": messages.OpeningContent,
    "content-head-list": messages.HeadListContent,
    "content-bundle": messages.BundleContent,
    "content-release": messages.ReleaseContent,
}
"""The names of the schemas of wire messages, and of the contents of signed documents."""


def main() -> None:
    """Write every generated file."""
    for path, text in (*outputs(), (ROOT / "README.md", readme())):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def outputs() -> Iterator[tuple[Path, str]]:
    """Every generated file with its content; the README's output is tested by running its commands."""
    for name, values in VECTORS.items():
        yield ROOT / f"spec/vectors/{name}.json", _json(values())
    yield ROOT / "spec/hostile_collectors.json", _json(hostile_collectors())
    yield ROOT / "spec/schemas/release.json", _json(json_schema())
    schemas = {**{name: message_schema(name) for name in MESSAGES}, "head-list": head_list_schema()}
    for name, schema in schemas.items():
        yield ROOT / f"spec/schemas/{name}.json", _json(schema)
    yield ROOT / "web/client/src/generated/messages.ts", web_types(schemas)
    yield from web_tables(ROOT)
    yield ROOT / "spec/openapi.json", _json(bare_app().openapi())
    yield ROOT / "docs/reference/command.md", command_reference()
    yield ROOT / "docs/architecture.md", architecture()
    yield ROOT / "docs/capacity.md", capacity_page()
    for name, picture in graph_pictures():
        yield ROOT / f"docs/figures/{name}.svg", picture
    yield ROOT / "web/extension/src/pages/generated/colours.css", f"{theme.variables()}\n"
    yield ROOT / "web/dashboard/src/generated/colours.css", f"{theme.variables()}\n"
    yield ROOT / "web/dashboard/src/generated/api.ts", api_types(bare_app().openapi())


def message_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a message or of a signed document's content; what it holds of another file refers to that."""
    schema = TypeAdapter(MESSAGES[name]).json_schema()
    for field, file in (("head_list", "head-list.json"), ("release", "release.json")):
        if schema["properties"].get(field, {}).get("type") == "object":
            schema["properties"][field] = {"$ref": file}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def head_list_schema() -> dict[str, Any]:
    """The JSON Schema of a head-list file: with the channel that devices use (2), or of names alone (1)."""
    text = {"type": "string", "minLength": 1}
    urls = {"type": "array", "items": text, "uniqueItems": True}
    query = {"type": "object", "properties": {"query": text, "urls": urls}, "required": ["query", "urls"]}
    levels = [{"items": {"properties": {"urls": bound}}} for bound in ({"minItems": 1}, {"maxItems": 0})]
    properties = {
        "schema": {"enum": [NAMES_SCHEMA, CHANNEL_SCHEMA]},
        "canonical_version": {"type": "integer", "minimum": 1},
        "queries": {"type": "array", "items": query, "anyOf": levels},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A BLENDER head list: queries and URLs, both sorted by code point; single items have no URLs, all of them",
        "type": "object",
        "properties": {**properties, "channel": {"oneOf": [_channel_schema("subset"), _channel_schema("two-stage")]}},
        "required": list(properties),
        "if": {"properties": {"schema": {"const": CHANNEL_SCHEMA}}},
        "then": {"required": ["channel"], "additionalProperties": False, "properties": {**properties, "channel": True}},
    }


def _channel_schema(randomiser: str) -> dict[str, Any]:
    exact = {"type": "string", "pattern": "^[1-9][0-9]{0,399}(/[1-9][0-9]{0,399})?$"}
    whole = {"type": "integer", "minimum": 1, "maximum": LARGEST}
    own = {"subset_size": whole} if randomiser == "subset" else {"delta": exact}
    fields = {"randomiser": {"const": randomiser}, "epsilon": exact, "f_c": exact, "m_c": whole, **own}
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def command_reference() -> str:
    """The command's own help, verb by verb."""
    title = "# The command\n\nGenerated from `blender-dp --help` by `make spec`.\n"
    verbs = list(_verbs(get_command(app)))
    printed = _printed("python", "-c", _HELP, *verbs, columns=100).removesuffix("\0").split("\0")
    helps = zip(verbs, (text.strip("\n") for text in printed), strict=True)
    sections = (f"## `{f'blender-dp {verb}'.strip()}`\n\n```text\n{text}\n```\n" for verb, text in helps)
    return "\n".join([title, *sections])


_HELP = """
import sys
from blender_dp.cli.app import app
for verb in sys.argv[1:]:
    app([*verb.split(), "--help"], prog_name="blender-dp", standalone_mode=False)
    print(end="\\0")
"""
"""All of them in one process: starting Python takes most of the time of one `--help`."""


def _verbs(command: object, *names: str) -> Iterator[str]:
    yield " ".join(names)
    for name, one in command.commands.items() if isinstance(command, TyperGroup) else ():
        yield from _verbs(one, *names, name)


def architecture() -> str:
    """The page with the current import graph."""
    before, start, rest = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").partition("<!-- graph -->\n")
    _, end, after = rest.partition("<!-- end of graph -->")
    return f"{before}{start}{graph_section()}{end}{after}"


def readme() -> str:
    """The README with the demo's current output."""
    before, _, rest = (ROOT / "README.md").read_text(encoding="utf-8").partition("$ make demo\n")
    with tempfile.TemporaryDirectory() as folder:
        printed = _printed("blender-dp", "demo", columns=80, folder=Path(folder))
    return f"{before}$ make demo\n{printed}\n```{rest.partition('```')[2]}"


def _printed(*command: str, columns: int, folder: Path = ROOT) -> str:
    executable = str(Path(sys.executable).parent / command[0])
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "dumb", "NO_COLOR": "1", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(  # noqa: S603
        [executable, *command[1:]], capture_output=True, text=True, check=True, env=environment, cwd=folder
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def _json(value: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    main()
