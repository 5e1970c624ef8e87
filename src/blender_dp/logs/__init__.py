"""What a log is and how it is read; tables in memory; synthetic populations.

locate        which files to read, their format and columns        -> `Source`
reading       what the files do not say about themselves, as options -> `Reading`
header, encoding, compression, file_types                         details of text files
readers/      the rows of each format, for DuckDB and for Spark
tally         how many rows have a record, and how many are bad    -> `Tally`
"""

from blender_dp.logs.locate import find, find_reports
from blender_dp.logs.reading import PLAIN_READING, Reading
from blender_dp.logs.source import PLAIN_COLUMNS, Columns, Format, Source
from blender_dp.logs.synthetic import aol_like, yandex_like
from blender_dp.logs.tables import as_table
from blender_dp.logs.tally import Problem, Tally

__all__ = [
    "PLAIN_COLUMNS",
    "PLAIN_READING",
    "Columns",
    "Format",
    "Problem",
    "Reading",
    "Source",
    "Tally",
    "aol_like",
    "as_table",
    "find",
    "find_reports",
    "yandex_like",
]
