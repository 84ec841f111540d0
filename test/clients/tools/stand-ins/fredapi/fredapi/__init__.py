"""Sends the requests of fredapi 0.5.2, and reads the answers as it does: for machines on which the package itself cannot be had."""
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

import pandas


class Fred:
    root_url = "https://api.stlouisfed.org/fred"

    def __init__(self, api_key):
        self.api_key = api_key

    def _ask(self, path):
        try:
            with urllib.request.urlopen(f"{self.root_url}/{path}&api_key={self.api_key}") as answer:
                return ElementTree.fromstring(answer.read())
        except urllib.error.HTTPError as error:
            raise ValueError(ElementTree.fromstring(error.read()).get("message")) from None

    def get_series_info(self, series_id):
        return pandas.Series(list(self._ask(f"series?series_id={series_id}"))[0].attrib)

    def get_series(self, series_id, **parameters):
        more = "&" + urllib.parse.urlencode(parameters) if parameters else ""
        rows = self._ask(f"series/observations?series_id={series_id}{more}")
        return pandas.Series({_day(row.get("date")): _number(row.get("value")) for row in rows})

    def get_series_all_releases(self, series_id):
        rows = self._ask(
            f"series/observations?series_id={series_id}&realtime_start=1776-07-04&realtime_end=9999-12-31"
        )
        return pandas.DataFrame(
            [
                {
                    "realtime_start": _day(row.get("realtime_start")),
                    "date": _day(row.get("date")),
                    "value": _number(row.get("value")),
                }
                for row in rows
            ]
        )

    def get_series_first_release(self, series_id):
        return self.get_series_all_releases(series_id).groupby("date").head(1).set_index("date")["value"]

    def get_series_as_of_date(self, series_id, as_of_date):
        releases = self.get_series_all_releases(series_id)
        return releases[releases["realtime_start"] <= pandas.to_datetime(as_of_date)]

    def get_series_vintage_dates(self, series_id):
        return [_day(row.text) for row in self._ask(f"series/vintagedates?series_id={series_id}")]

    def search(self, text, order_by=None, sort_order=None, filter=None):
        url = f"series/search?search_text={urllib.parse.quote_plus(text)}&"
        if order_by is not None:
            url += f"&order_by={order_by}"
        if filter is not None:
            url += f"&filter_variable={filter[0]}&filter_value={filter[1]}"
        if sort_order is not None:
            url += f"&sort_order={sort_order}"
        rows = [dict(row.attrib) for row in self._ask(url)]
        for row in rows:
            for field in ("realtime_start", "realtime_end", "observation_start", "observation_end", "last_updated"):
                row[field] = pandas.to_datetime(row.get(field))
        return pandas.DataFrame(rows).set_index("id", drop=False)


def _day(text):
    return pandas.to_datetime(text, format="%Y-%m-%d").to_pydatetime()


def _number(text):
    return float("nan") if text == "." else float(text)
