"""Mathematics in Markdown as GitHub writes it, rendered as MathML: browsers draw it without a script or a font of ours."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

INLINE = r"(?<![\\\w$])\$(?=[^\s$])((?:\\.|[^$\\])+?)(?<=\S)\$(?![\w$])"


class _Inline(InlineProcessor):
    """Text between two dollar signs."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override] # noqa: ARG002, N802
        return self.md.htmlStash.store(convert(m[1])), m.start(0), m.end(0)


class Mathematics(Extension):
    """`$...$` in a line; blocks are fences of the language `math`."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Before emphasis and escapes are read: a formula may contain an underscore or a backslash."""
        md.inlinePatterns.register(_Inline(INLINE, md), "mathematics", 185)


def makeExtension(**settings: Any) -> Mathematics:  # noqa: ANN401, N802
    """The extension, by the name that Python-Markdown asks for."""
    return Mathematics(**settings)


def block(source: str, *_: Any, **__: Any) -> str:  # noqa: ANN401
    """A fence of the language `math`: one formula per line that ends in two backslashes."""
    return f'<div class="formula">{convert(source.strip(), display="block")}</div>'
