"""An invitation: everything that a device pins before it participates in a campaign, as a file or as a link.

A device believes an invitation that its user accepts, and never takes these values from the collector.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import asdict
from fractions import Fraction
from typing import Annotated, Any, Literal

from blender_dp.errors import ParameterError
from blender_dp.privacy.limits import INVITED_DELTA, LARGEST_EPSILON
from blender_dp_device.arithmetic import EXACT_TEXT, Number, exact
from blender_dp_device.records.checks import checked_delta, checked_epsilon
from blender_dp_device.wire.messages import Identifier, message, rule

SCHEMA: Literal["blender-dp/invitation/1"] = "blender-dp/invitation/1"
_URL = (
    r"^(https://[0-9A-Za-z.:\[\]-]{1,260}|http://(localhost|127\.0\.0\.1)(:[0-9]{1,5})?)"
    r"(/[0-9A-Za-z._~%!$&'()*+,;=:@/-]{0,500}[0-9A-Za-z._~%!$&'()*+,;=:@-])?$"
)
_Exact = Annotated[str, rule("An exact number in lowest terms, such as 4 or 7/3.", pattern=EXACT_TEXT)]


@message
class Invitation:
    """What a device needs to participate in a campaign. None of it comes from the collector's responses."""

    schema: Literal["blender-dp/invitation/1"]
    collector: Annotated[str, rule("URL without a slash at its end; http only to localhost or 127.0.0.1.", pattern=_URL)]
    key: Annotated[str, rule("The collector's public key (Ed25519, base64).", pattern=r"^[A-Za-z0-9+/]{43}=$")]
    campaign: Identifier
    epsilon: Annotated[_Exact, rule("The ε of every round, at most 20.")]
    delta: Annotated[_Exact, rule("The largest δ of any round to which an opt-in user's record is uploaded; below 1/1000.")]
    lifetime_epsilon: Annotated[_Exact, rule("The ε that a device may spend in all rounds together.")]
    name: Annotated[str, rule("The campaign's name, to show to the user.", pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]

    @classmethod
    def of(
        cls, *, collector: str, key: str, campaign: str, epsilon: Number, delta: Number, lifetime_epsilon: Number, name: str
    ) -> Invitation:
        """Check the values, and convert the numbers to their exact form."""
        collector = collector.rstrip("/")
        if not re.fullmatch(_URL, collector):
            fix = "Use the address at which devices reach the collector, https://..."
            raise ParameterError("public-url", "is not https, or not a plain address", fix)
        per_round, per_round_delta = _promise(epsilon, delta)
        lifetime = exact(lifetime_epsilon, "lifetime-epsilon")
        if lifetime < per_round:
            fix = "Allow at least one round"
            raise ParameterError("lifetime-epsilon", f"{lifetime_epsilon} is less than the ε of one round, {epsilon}", fix)
        return cls(
            schema=SCHEMA,
            collector=collector,
            key=key,
            campaign=campaign,
            epsilon=str(per_round),
            delta=str(per_round_delta),
            lifetime_epsilon=str(lifetime),
            name=name,
        )

    def to_document(self) -> dict[str, Any]:
        """The invitation as JSON values."""
        return asdict(self)

    @property
    def link(self) -> str:
        """The invitation as a link. It is in the fragment, which browsers do not send to any server."""
        text = json.dumps(self.to_document(), separators=(",", ":")).encode()
        return f"{self.collector}/join#{base64.urlsafe_b64encode(text).decode().rstrip('=')}"


def _promise(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    """ε and δ of a round, unless they protect so little that devices refuse the invitation."""
    per_round, per_round_delta = checked_epsilon(epsilon), checked_delta(delta)
    fix = "Devices would refuse the invitation: create a campaign that protects its users"
    if per_round > LARGEST_EPSILON:
        raise ParameterError("epsilon", f"{epsilon} is more than {LARGEST_EPSILON}, which offers no real privacy", fix)
    if per_round_delta >= INVITED_DELTA:
        raise ParameterError("delta", f"{delta} is not less than {INVITED_DELTA}, which offers no real privacy", fix)
    return per_round, per_round_delta
