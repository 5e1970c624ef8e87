"""Parameters that several routes take."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Path, Query
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from blender_dp.collector.campaign import CampaignName
from blender_dp.collector.http.messages import Digest
from blender_dp.collector.http.problems import ProblemError
from blender_dp_device.digests import DocumentDigest
from blender_dp_device.wire.messages import DIGEST_PATTERN, Identifier

_SCHEME = HTTPBearer(scheme_name="token", description="An operator's or an opt-in user's token.", auto_error=False)

RoundId = Annotated[Identifier, Path()]
DigestPath = Annotated[Digest, Path()]
DocumentPath = Annotated[DocumentDigest, Path(pattern=DIGEST_PATTERN)]
CampaignPath = Annotated[CampaignName, Path(description="Its name, or its id.")]
CampaignQuery = Annotated[
    CampaignName | None, Query(description="Only of this campaign, by its name or its id; by default of all campaigns.")
]


def bearer(credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)]) -> str:
    """The token of a request; a request without one is refused."""
    if credentials is None or not credentials.credentials:
        raise ProblemError(HTTPStatus.UNAUTHORIZED, "token", "a token is needed", {"WWW-Authenticate": "Bearer"})
    return credentials.credentials


BearerToken = Annotated[str, Depends(bearer)]
