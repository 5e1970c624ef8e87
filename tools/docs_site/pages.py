"""Which files of the repository become pages of the site, and where: `docs/` is its root, the others get a place in it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# Pages outside docs/; the start page takes the README's place, and a page is generated from the description of the API.
OUTSIDE = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "device/README.md": "reference/device.md",
    "spec/README.md": "spec/index.md",
    "web/README.md": "web/index.md",
    "web/client/README.md": "web/client.md",
    "web/extension/README.md": "web/extension.md",
}
ALIASES = {"README.md": "index.md", "spec/openapi.json": "reference/http-api.md"}


def places() -> dict[str, str]:
    """Every page: its path in the repository, and its path in the site."""
    docs = {path: path.removeprefix("docs/") for path in _found("docs/**/*.md")}
    proofs = {path: f"proofs/{Path(path).parent.name.replace('_', '-')}.md" for path in _found("src/**/proof.md")}
    spec = {path: path for path in _found("spec/*.md") if path not in OUTSIDE}
    return {**docs, **proofs, **spec, **OUTSIDE}


def _found(pattern: str) -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern))
