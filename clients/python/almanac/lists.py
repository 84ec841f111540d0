"""Lists as frames: search, catalogue, funds and all others of the API, read to their end. Hides pages and paths."""
from __future__ import annotations

from itertools import islice
from typing import Any

import pandas as pd

from .client import Client, path_of
from .frames import frame_of


def table(path: str, *, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """All rows of any list of the API, or the first ``rows``: ``table("/v1/securities", type="sukuk", sort="maturity_date")``.

    ``filters`` are the parameters of the endpoint (``/docs/reference`` of the dashboard). Write ``from_`` for ``from``, a word of
    Python's own. Each page of 1,000 rows is a call.
    """
    query = {name.removesuffix("_"): value for name, value in filters.items()}
    if rows is not None:
        query.setdefault("limit", min(rows, 1000))
    return frame_of(islice((client or Client()).rows(path, query), rows))


def search(q: str, *, rows: int | None = 20, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """The best matches for ``q`` among series, funds, companies, securities and commodities. Needs no key."""
    return table("/v1/search", rows=rows, client=client, q=q, **filters)


def catalogue(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """The series of the installation: ``catalogue(frequency="monthly")``. Needs no key."""
    return table("/v1/catalog", rows=rows, client=client, **filters)


def calendar(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """Releases, past and announced: ``calendar(from_="2026-12", series="DEMO.CPI")``. Needs no key."""
    return table("/v1/calendar", rows=rows, client=client, **filters)


def funds(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """Funds: ``funds(category="Equity", sort="name")``."""
    return table("/v1/funds", rows=rows, client=client, **filters)


def nav(fund: str, *, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """The prices of a fund by day (the index): ``nav("harbour-cash", from_="2026")``."""
    frame = table(path_of("/v1/funds/{id}/nav", id=fund), rows=rows, client=client, **filters)
    return frame.set_index("date") if "date" in frame.columns else frame


def securities(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """Debt securities: ``securities(type="sukuk", rating_min="AA-")``."""
    return table("/v1/securities", rows=rows, client=client, **filters)


def auctions(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """Auctions of government securities: ``auctions(status="held")``."""
    return table("/v1/fixed-income/auctions", rows=rows, client=client, **filters)


def trade(*, rows: int | None = None, client: Client | None = None, **filters: Any) -> pd.DataFrame:
    """External trade: ``trade(flow="export", frequency="annual")``."""
    return table("/v1/trade", rows=rows, client=client, **filters)
