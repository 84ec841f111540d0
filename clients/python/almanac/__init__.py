"""Almanac for pandas: ``almanac.get("DEMO.CPI", as_of="2026-09-30")``. See README.md for the rest."""
from .client import Client
from .errors import AlmanacError
from .lists import auctions, calendar, catalogue, funds, nav, search, securities, table, trade
from .series import get, latest, triangle, vintages
from .version import __version__

__all__ = [
    "AlmanacError",
    "Client",
    "__version__",
    "auctions",
    "calendar",
    "catalogue",
    "funds",
    "get",
    "latest",
    "nav",
    "search",
    "securities",
    "table",
    "trade",
    "triangle",
    "vintages",
]
