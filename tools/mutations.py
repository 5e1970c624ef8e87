"""All small changes to a module's syntax tree that a test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "ceil": "floor", "floor": "ceil"}
_NOT_RUN = {"annotation", "returns", "decorator_list", "type_params"}  # annotations are never evaluated here

Edit = Callable[[ast.AST], ast.AST]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change to one file."""

    path: Path
    line: int
    function: str
    before: str
    after: str
    tree: ast.Module

    @property
    def change(self) -> str:
        """The change in one line, the same wherever in the function it is."""
        return f"{self.before} -> {self.after}"


def mutations(path: Path) -> Iterator[Mutation]:
    """Every mutation of a Python file, in the order of its lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for place, (node, function) in enumerate(_nodes(tree)):
        for edit in _edits(node):
            changed = copy.deepcopy(tree)
            target = next(other for number, (other, _) in enumerate(_nodes(changed)) if number == place)
            before = ast.unparse(target)
            replacement = edit(target)
            _replace(changed, target, replacement)
            ast.fix_missing_locations(changed)
            after = ast.unparse(replacement)
            yield Mutation(path, node.lineno, function, _short(before), _short(after), changed)  # type: ignore[attr-defined]


def _nodes(tree: ast.AST, function: str = "") -> Iterator[tuple[ast.AST, str]]:
    """Every node that is evaluated, with the name of the function or class around it."""
    for field, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if field in _NOT_RUN or not isinstance(child, ast.AST):
                continue
            name = function
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{function}.{child.name}".lstrip(".")
            yield child, name
            yield from _nodes(child, name)


def _edits(node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Compare(ops=[operator]):
            yield from (_comparison(other) for other in _COMPARISONS[type(operator)])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if type(operator) in _ARITHMETIC:
            yield _with(op=_ARITHMETIC[type(operator)]())
        case ast.BoolOp(op=operator):
            yield _with(op=ast.Or() if isinstance(operator, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield lambda target: target.operand  # type: ignore[attr-defined]
        case ast.Constant(value=bool() as value):
            yield _with(value=not value)
        case ast.Constant(value=int() as value):
            yield _with(value=value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _CALLS:
            yield _with(func=ast.Name(_CALLS[name], ast.Load()))
        case ast.Call(func=ast.Attribute(attr=name, value=value)) if name in _CALLS:
            yield _with(func=ast.Attribute(value, _CALLS[name], ast.Load()))
        case ast.Raise():
            yield lambda _: ast.Pass()
        case ast.If(test=test) if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield _with(test=ast.UnaryOp(ast.Not(), test))


def _comparison(operator: type[ast.cmpop]) -> Edit:
    return _with(ops=[operator()])


def _with(**fields: object) -> Edit:
    def edit(target: ast.AST) -> ast.AST:
        changed = copy.copy(target)
        for name, value in fields.items():
            setattr(changed, name, value)
        return changed

    return edit


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
            elif isinstance(value, list):
                value[:] = [new if entry is old else entry for entry in value]


def _short(text: str) -> str:
    return " ".join(text.split("\n", maxsplit=1)[0].split())
