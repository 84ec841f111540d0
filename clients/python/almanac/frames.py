"""Rows of a list as a frame. Hides which fields are days and which are instants: the API documents both by their format."""
from __future__ import annotations

from typing import Any, Iterable

import pandas as pd

# The fields of the API's lists that are days, besides every name that ends in _date. tests/test_live.py keeps them complete.
DAYS = frozenset(
    ["as_of", "date", "established", "first_vintage", "fytd_from", "last_updated", "month", "period_end"]
    + ["valid_from", "valid_to", "vintage"]
)
# The fields that are instants, in UTC, besides every name that ends in _at.
INSTANTS = frozenset(["at", "current_period_end", "failing_since", "next_release", "previous_secret_until"])


def frame_of(rows: Iterable[dict[str, Any]], columns: list[str] | None = None) -> pd.DataFrame:
    """A frame with one row per record: days and instants as pandas' own, null as NaN, NaT or None.

    ``columns`` are those of a list without rows.
    """
    frame = pd.DataFrame.from_records(list(rows))
    if frame.columns.empty and columns is not None:
        frame = pd.DataFrame(columns=columns)
    for name in frame.columns:
        if frame[name].map(type).eq(bool).any():
            continue  # as_of of a trade says whether it was reported later
        if is_day(name):
            frame[name] = pd.to_datetime(frame[name], format="%Y-%m-%d")
        elif is_instant(name):
            frame[name] = pd.to_datetime(frame[name], format="%Y-%m-%dT%H:%M:%SZ", utc=True)
    return frame


def is_day(name: str) -> bool:
    """Whether a field of that name is a day."""
    return name in DAYS or name.endswith("_date")


def is_instant(name: str) -> bool:
    """Whether a field of that name is an instant."""
    return name in INSTANTS or name.endswith("_at")
