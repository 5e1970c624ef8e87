"""The definition of one parameter: its default, its check, its help text and the places that show it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Generic, TypeVar, overload

Value = TypeVar("Value")
Checked = TypeVar("Checked")


class Default(Enum):
    """The marker of a parameter without a default."""

    REQUIRED = "required"


class Parameter(Generic[Value, Checked]):
    """A field of `Parameters` that checks and converts the value it is set to.

    As a descriptor it gives the constructor the type of the input and the attribute the type of the checked value.
    """

    name: str

    def __init__(
        self,
        check: Callable[[Value, str], Checked],
        description: str,
        *,
        kind: type,
        default: Value | Default = Default.REQUIRED,
        metavar: str | None = None,
        flag: str | None = None,
        in_manifest: bool = True,
        in_campaign: bool = False,
    ) -> None:
        """`check` receives the value and the parameter's name; `kind` is the type of its result.

        `flag` is the command-line option if its name differs from the parameter's. `in_manifest` says whether a release
        shows the parameter, and `in_campaign` whether an operator can set it for a campaign.
        """
        self.check = check
        self.description = description
        self.default = default
        self.kind = kind
        self.metavar = metavar
        self.flag = flag
        self.in_manifest = in_manifest
        self.in_campaign = in_campaign

    @property
    def is_required(self) -> bool:
        """Whether there is no default."""
        return self.default is Default.REQUIRED

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Value: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Checked: ...

    def __get__(self, instance: object | None, owner: type) -> Value | Checked:
        if instance is not None:
            checked: Checked = vars(instance)[self.name]
            return checked
        if isinstance(self.default, Default):
            raise AttributeError(f"{self.name} has no default")  # noqa: TRY004 (how a dataclass knows that a field is required)
        return self.default

    def __set__(self, instance: object, value: Value) -> None:
        vars(instance)[self.name] = self.check(value, self.name)
