"""A release as a file to download."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from blender_dp.release import Release

FileName = Literal["estimates.csv", "estimates.parquet", "release.json"]
MEDIA_TYPES: dict[FileName, str] = {
    "estimates.csv": "text/csv; charset=utf-8",
    "estimates.parquet": "application/vnd.apache.parquet",
    "release.json": "application/json",
}


def release_file(release: Release, name: FileName) -> bytes:
    """The content of a file, the same as `Release.save` and `Release.to_csv` write."""
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    if name == "release.json":
        from blender_dp.release.document import dump  # noqa: PLC0415

        return dump(release).encode()
    sink = pa.BufferOutputStream()
    if name == "estimates.csv":
        import pyarrow.csv as pa_csv  # noqa: PLC0415

        pa_csv.write_csv(release.to_arrow(), sink)
    else:
        import pyarrow.parquet as pq  # noqa: PLC0415

        pq.write_table(release.to_arrow(), sink)
    return bytes(sink.getvalue())
