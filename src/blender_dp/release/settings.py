"""The parameters in a manifest: the names and checks of `Parameters`, with numbers as exact strings."""

from __future__ import annotations

from dataclasses import make_dataclass, replace
from fractions import Fraction
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from blender_dp.parameters import Parameters, definitions
from blender_dp.release.exact import Exact
from blender_dp.stages import Design

_WRITTEN = {name: one for name, one in definitions().items() if one.in_manifest}
_Written = make_dataclass(
    "Settings",
    [(name, Exact if one.kind is Fraction else one.kind) for name, one in _WRITTEN.items()],
    namespace={"__doc__": "The exact parameters, by the papers' names, with the chosen f_c and subset_size."},
)


class _InJson:
    """Tells pydantic how to write parameters in a manifest, and to check them when they are read."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401
        names = handler.generate_schema(_Written)
        written = core_schema.plain_serializer_function_ser_schema(_values, return_schema=names)
        return core_schema.no_info_after_validator_function(_parameters, names, serialization=written)


Settings = Annotated[Parameters, _InJson()]
"""The parameters of a release, with the f_c and the subset size that were chosen for its list."""


def chosen(parameters: Parameters, design: Design) -> Parameters:
    """The parameters for a manifest: those of the collection, with the chosen design of the clients' channel."""
    omitted = {name: one.default for name, one in definitions().items() if not one.in_manifest}
    return replace(parameters, f_c=design.f_c, subset_size=design.size, **omitted)  # type: ignore[arg-type]


def _values(parameters: Parameters) -> Any:  # noqa: ANN401 (a `_Written`, which is created at run time)
    return _Written(**{name: getattr(parameters, name) for name in _WRITTEN})


def _parameters(values: Any) -> Parameters:  # noqa: ANN401
    return Parameters(**vars(values))
