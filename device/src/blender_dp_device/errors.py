"""Every error that a device can raise on purpose.

    BlenderError               subject, problem, fix
    ├── ParameterError         a value is out of range; the subject is the field
    ├── DocumentError          a saved or received document is invalid; the subject is its source
    └── StateError             the current state does not allow the request; `kind` says why

Each message says what is wrong with which subject, and how to fix it. None of them depends on a user's record.
"""

from __future__ import annotations


class BlenderError(ValueError):
    """The base of every error that this package raises on purpose."""

    def __init__(self, subject: str, problem: str, fix: str) -> None:
        super().__init__(f"{subject}: {problem}. {fix}.")
        self.subject = subject
        self.problem = problem
        self.fix = fix

    def __reduce__(self) -> tuple[object, ...]:  # errors also come from other processes; `__init__` takes other arguments
        return type(self).__new__, (type(self), *self.args), self.__dict__


class ParameterError(BlenderError):
    """A parameter lies outside its range."""


class DocumentError(BlenderError):
    """A saved head list, release or table file does not follow its schema."""


class StateError(BlenderError):
    """The current state does not allow the request: `kind` is `conflict`, `missing` or `forbidden`."""

    def __init__(self, subject: str, problem: str, fix: str, *, kind: str = "conflict") -> None:
        super().__init__(subject, problem, fix)
        self.kind = kind
