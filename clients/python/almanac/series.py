"""Series as frames: as they are now or were on an earlier day, and all their vintages. Hides pages and how points become columns."""
from __future__ import annotations

import datetime
from typing import Any, Iterable, Literal, Mapping, Sequence, Union

import pandas as pd

from .client import Client, path_of
from .errors import named_as
from .frames import frame_of

Day = Union[str, datetime.date, pd.Timestamp, pd.Period]
"""A day or a period: ``"2024-03-31"``, ``datetime.date(2024, 3, 31)``, ``"2024"``, ``"2024-Q1"``, ``pandas.Period``."""
Dims = Union[str, Mapping[str, Union[str, Sequence[str]]]]
Transform = Literal[
    "yoy",
    "mom",
    "pct_change",
    "3ma",
    "index",
    "change",
    "change_yoy",
    "annualised",
    "log",
    "log_change",
    "log_change_annualised",
    "cumulative",
    "zscore",
    "lin",
    "chg",
    "ch1",
    "pch",
    "pc1",
    "pca",
    "cch",
    "cca",
]
Frequency = Literal["weekly", "monthly", "quarterly", "semiannual", "annual"]
Aggregate = Literal["avg", "sum", "last", "first", "min", "max"]

_LARGEST_PAGE = 100_000  # points of one answer, over all its series
_MOST_IDS = 100

_with_own_names = named_as(
    {
        "from": "start",
        "to": "end",
        "vintage": "as_of",
        "ids": "series",
        "include_missing": "missing",
        "vintages_from": "vintages_start",
        "vintages_to": "vintages_end",
    }
)


@_with_own_names
def get(
    series: str | Iterable[str],
    *,
    as_of: Day | None = None,
    start: Day | None = None,
    end: Day | None = None,
    transform: Transform | None = None,
    base: Day | None = None,
    frequency: Frequency | None = None,
    aggregate: Aggregate | None = None,
    incomplete: bool = False,
    dims: Dims | None = None,
    release: Literal["first"] | None = None,
    version: int | None = None,
    missing: bool = False,
    layout: Literal["wide", "long"] = "wide",
    client: Client | None = None,
) -> pd.DataFrame:
    """The points of one series or several, as floats (NaN where there is none) under a DatetimeIndex named ``date``.

    ``as_of``: the data as published at the end of that day. ``release="first"``: each point as first published. Both need the
    feature ``vintages`` of the plan; with either, ``version`` (a ``version`` of the metadata) pins the answer to that load.
    ``start`` and ``end`` are inclusive. ``transform`` and ``base`` are explained at ``/docs/transforms`` of the dashboard, as are
    ``frequency``, to which values are aggregated before they are transformed, ``aggregate`` and ``incomplete``.
    ``dims``: ``{"currency": ["EUR", "USD"], "side": "buy"}``, or the API's text ``"currency:EUR|USD,side:buy"``.
    ``missing``: keeps the dates whose value was published as missing.

    ``layout="wide"``: one column per series; of a series with dimensions, one per combination, named
    ``"DEMO.FX currency=EUR side=buy"``. ``layout="long"``: one row per point; the columns are ``series``, one per dimension,
    and ``value``.

    ``frame.attrs["series"]`` has the metadata by series id (unit, frequency, source, version …), ``frame.attrs["columns"]``
    the series and the dimensions of each wide column. Values are doubles: of a longer number the first 15 digits are certain.
    """
    if layout not in ("wide", "long"):
        raise ValueError(f'layout must be "wide" or "long", not {layout!r}.')
    query = {
        "from": _first(start),
        "to": _last(end),
        "vintage": _last(as_of),
        "transform": transform,
        "base": _calendar(base),
        "frequency": frequency,
        "aggregate": aggregate,
        "incomplete": incomplete or None,
        "dims": _dims_text(dims),
        "release": release,
        "version": version,
        "include_missing": missing or None,
    }
    ids = [series] if isinstance(series, str) else list(series)
    answers = _answers_of(client or Client(), ids, query)
    frame = _long(answers) if layout == "long" else _wide(answers)
    frame.attrs["series"] = {answer["series"]: answer["meta"] for answer in answers}
    return frame


@_with_own_names
def latest(
    series: str,
    *,
    as_of: Day | None = None,
    transform: Transform | None = None,
    dims: Dims | None = None,
    client: Client | None = None,
) -> pd.DataFrame:
    """The newest point with a value of each combination of dimensions, in the long layout of ``get``."""
    query = {"vintage": _last(as_of), "transform": transform, "dims": _dims_text(dims)}
    answer = (client or Client()).fetch(path_of("/v1/series/{id}/latest", id=series), query)
    frame = _long([answer])
    frame.attrs["series"] = {answer["series"]: answer["meta"]}
    return frame


@_with_own_names
def vintages(
    series: str, *, start: Day | None = None, end: Day | None = None, client: Client | None = None
) -> pd.DataFrame:
    """The days on which the series was published or revised (the index), and how many points were new, revised, deleted."""
    query = {"from": _first(start), "to": _last(end)}
    rows = (client or Client()).rows(path_of("/v1/series/{id}/vintages", id=series), query)
    columns = ["vintage", "points_new", "points_revised", "points_deleted", "loaded_at"]
    return frame_of(rows, columns).set_index("vintage")


@_with_own_names
def triangle(
    series: str,
    *,
    start: Day | None = None,
    end: Day | None = None,
    vintages_start: Day | None = None,
    vintages_end: Day | None = None,
    last: int | None = None,
    dims: Dims | None = None,
    missing: bool = False,
    layout: Literal["wide", "long"] = "wide",
    client: Client | None = None,
) -> pd.DataFrame:
    """Every vintage of a series at once: what ``get(series, as_of=day)`` returns for each day of ``vintages``, in one call.

    ``start``, ``end`` and ``dims`` select points; ``vintages_start``, ``vintages_end`` and ``last`` (the newest so many) select
    vintages. Needs the feature ``vintages`` of the plan.

    ``layout="wide"``: one row per point, one column per vintage, NaN where a vintage does not have the point. The index is ``date``,
    after the dimensions if there are any. ``layout="long"``: one row per cell; the columns are ``vintage``, ``date``, one per
    dimension, and ``value``; with ``missing``, also the cells that were published as missing. ``frame.attrs["series"]`` has the
    metadata.
    """
    if layout not in ("wide", "long"):
        raise ValueError(f'layout must be "wide" or "long", not {layout!r}.')
    query = {
        "from": _first(start),
        "to": _last(end),
        "vintages_from": _first(vintages_start),
        "vintages_to": _last(vintages_end),
        "last": last,
        "dims": _dims_text(dims),
        "include_missing": missing or None,
        "layout": layout,
    }
    answer = (client or Client()).fetch(path_of("/v1/series/{id}/triangle", id=series), query)
    meta, rows = answer["meta"], answer["data"]
    named: dict[str, Any] = {dim["name"]: [row["dims"].get(dim["name"]) for row in rows] for dim in meta["dims"]}
    dates = _index([row["date"] for row in rows])
    if layout == "wide":
        days = pd.DatetimeIndex(pd.to_datetime(meta["vintages"], format="%Y-%m-%d"), name="vintage")
        index = pd.MultiIndex.from_arrays([*named.values(), dates], names=[*named, "date"]) if named else dates
        frame = pd.DataFrame([row["values"] for row in rows], index=index, columns=days, dtype="float64").sort_index()
    else:
        days = pd.DatetimeIndex(pd.to_datetime([row["vintage"] for row in rows], format="%Y-%m-%d"))
        values = pd.Series([row["value"] for row in rows], dtype="float64")
        frame = pd.DataFrame({"vintage": days, "date": dates, **named, "value": values})
    frame.attrs["series"] = {answer["series"]: meta}
    return frame


def _answers_of(client: Client, ids: list[str], query: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The envelope of each series with all of its points: several series share a call, and are then paged one by one."""
    if not ids:
        raise ValueError("Name at least one series.")
    if len(ids) == 1 or query["version"] is not None:  # the endpoint of several series pins no version
        answers = [client.fetch(path_of("/v1/series/{id}", id=name), {**query, "limit": _LARGEST_PAGE}) for name in ids]
    else:
        answers = []
        for first in range(0, len(ids), _MOST_IDS):
            some = ids[first : first + _MOST_IDS]
            asked = {**query, "ids": some, "limit": _LARGEST_PAGE // len(some)}
            answers += client.fetch("/v1/series", asked)["data"]
    for answer in answers:
        cursor = answer["pagination"]["next_cursor"]
        while cursor is not None:
            asked = {**query, "limit": _LARGEST_PAGE, "cursor": cursor}
            page = client.fetch(path_of("/v1/series/{id}", id=answer["series"]), asked)
            answer["data"] += page["data"]
            cursor = page["pagination"]["next_cursor"]
    return answers


def _wide(answers: list[dict[str, Any]]) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {}
    origins: dict[str, dict[str, Any]] = {}
    for answer in answers:
        name = answer["series"]
        points: dict[tuple[tuple[str, str], ...], tuple[list[str], list[float | None]]] = {}
        if not answer["meta"]["dims"]:
            points[()] = ([], [])  # a series without points is an empty column, not none
        for point in answer["data"]:
            dates, values = points.setdefault(tuple(sorted(point["dims"].items())), ([], []))
            dates.append(point["date"])
            values.append(point["value"])
        for dims, (dates, values) in points.items():
            label = " ".join([name, *(f"{dim}={value}" for dim, value in dims)])
            columns[label] = pd.Series(values, index=_index(dates), dtype="float64")
            origins[label] = {"series": name, "dims": dict(dims)}
    frame = pd.DataFrame(columns) if columns else pd.DataFrame(index=_index([]))
    frame = frame.sort_index().rename_axis(index="date")
    frame.attrs["columns"] = origins
    return frame


def _long(answers: list[dict[str, Any]]) -> pd.DataFrame:
    points = [(answer["series"], point) for answer in answers for point in answer["data"]]
    dims = dict.fromkeys(dim["name"] for answer in answers for dim in answer["meta"]["dims"])
    columns: dict[str, list[Any]] = {"series": [name for name, _ in points]}
    for dim in dims:
        columns[dim] = [point["dims"].get(dim) for _, point in points]
    frame = pd.DataFrame(columns, index=_index([point["date"] for _, point in points]), dtype="object")
    frame["value"] = pd.Series([point["value"] for _, point in points], index=frame.index, dtype="float64")
    return frame


def _index(dates: list[str]) -> pd.DatetimeIndex:
    return pd.DatetimeIndex(pd.to_datetime(dates, format="%Y-%m-%d"), name="date")


def _first(value: Day | None) -> str | None:
    """A day as the API spells it: of a period, the first."""
    return _last(value.start_time if isinstance(value, pd.Period) else value)


def _last(value: Day | None) -> str | None:
    """The same, but of a period the last. The years and quarters of a period may be fiscal ones, which the API does not spell."""
    if value is None or isinstance(value, str):
        return value
    day: datetime.date = value.end_time if isinstance(value, pd.Period) else value
    return day.isoformat()[:10]


def _calendar(value: Day | None) -> str | None:
    """A day, or a whole period of the calendar: the API spells no other."""
    if not isinstance(value, pd.Period):
        return _last(value)
    first, kind = value.start_time, value.freqstr[0]
    if first.month not in {"Q": (1, 4, 7, 10), "A": (1,), "Y": (1,)}.get(kind, range(1, 13)):
        raise ValueError(f"base must be a day or a period of the calendar year, not {value!r}.")
    return f"{first.year}-Q{first.quarter}" if kind == "Q" else str(value)


def _dims_text(dims: Dims | None) -> str | None:
    """``currency:EUR|USD,side:buy``; a comma, ``|`` or backslash of a name or value is escaped."""
    if dims is None or isinstance(dims, str):
        return dims
    parts = []
    for name, wanted in dims.items():
        values = [wanted] if isinstance(wanted, str) else list(wanted)
        parts.append(f"{_escaped(name)}:{'|'.join(map(_escaped, values))}")
    return ",".join(parts)


def _escaped(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\,|" else letter for letter in text)
