"""The page of the collector's HTTP API, rendered from spec/openapi.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
INTRODUCTION = """# The collector's HTTP API

Rendered from the machine-readable description, [openapi.json](../files/spec/openapi.json) (OpenAPI {version}).
{description} What the bytes mean, and what a device must verify, is in [the protocol](../spec/protocol.md).

"""
TABLE = "| {} | type | | meaning |\n|---|---|---|---|\n"


def page(document: Json) -> str:
    """Every route by its path, then every schema."""
    start = INTRODUCTION.format(version=document["openapi"], description=document["info"]["description"])
    contents = "\n".join(f"- [`{title}`](#{_anchor(title)}) {_summary(one)}" for title, one in _operations(document))
    routes = "\n".join(_operation(title, one) for title, one in _operations(document))
    schemas = "\n".join(_schema(name, one) for name, one in sorted(document["components"]["schemas"].items()))
    return f"{start}{contents}\n\n## Routes\n\n{routes}\n## Schemas\n\n{schemas}"


def _operations(document: Json) -> Iterator[tuple[str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def _operation(title: str, operation: Json) -> str:
    parts = [f"### `{title}` {{ #{_anchor(title)} }}\n", operation.get("description", operation.get("summary", "")), ""]
    if operation.get("parameters"):
        parts += [TABLE.format("parameter") + "\n".join(map(_parameter, operation["parameters"])), ""]
    if body := operation.get("requestBody"):
        parts += [f"Body: {_content(body['content'])}.", ""]
    parts += ["| status | body | meaning |\n|---|---|---|", *map(_response, operation["responses"].items()), ""]
    return "\n".join(parts)


def _parameter(one: Json) -> str:
    return _row(f"`{one['name']}` ({one['in']})", one, one["schema"], bool(one.get("required")))


def _row(name: str, described: Json, schema: Json, required: bool) -> str:
    needed = "required" if required else _default(schema)
    return f"| {name} | {_type(schema)} | {needed} | {_cell(described.get('description', ''))} |"


def _response(item: tuple[str, Json]) -> str:
    status, one = item
    return f"| {status} | {_content(one.get('content', {}))} | {_cell(one['description'])} |"


def _content(content: Json) -> str:
    return "; ".join(f"{_type(one.get('schema', {}))} (`{kind}`)" for kind, one in content.items())


def _schema(name: str, schema: Json) -> str:
    needed = set(schema.get("required", ()))
    rows = [_row(f"`{field}`", one, one, field in needed) for field, one in schema.get("properties", {}).items()]
    table = [TABLE.format("field") + "\n".join(rows), ""] if rows else [f"{_type(schema)}\n"]
    return "\n".join([f"### `{name}` {{ #{name.lower()} }}\n", schema.get("description", ""), "", *table])


def _type(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[`{name}`](#{name.lower()})"
    if options := schema.get("anyOf", schema.get("oneOf")):
        return " or ".join(map(_type, options))
    if "const" in schema or "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}{_limits(schema)}"
    return f"{schema.get('type', 'any')}{_limits(schema)}"


def _limits(schema: Json) -> str:
    words = {
        "minimum": "at least {}", "maximum": "at most {}", "exclusiveMinimum": "above {}", "exclusiveMaximum": "below {}",
        "minLength": "{} characters or more", "maxLength": "at most {} characters", "minItems": "{} items or more",
        "maxItems": "at most {} items", "pattern": "`{}`", "format": "{}",
    }  # fmt: skip
    limits = [text.format(_cell(str(schema[name]))) for name, text in words.items() if name in schema]
    return f", {', '.join(limits)}" if limits else ""


def _default(schema: Json) -> str:
    return f"default `{schema['default']}`" if schema.get("default") is not None else "optional"


def _summary(operation: Json) -> str:
    return str(operation.get("description", "")).partition(". ")[0].partition("\n")[0].removesuffix(".")


def _anchor(title: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in title.lower()).strip("-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
