"""fredapi and pandas-datareader against a running installation: values, vintages, a search, and the message of each error.

Settings: ALMANAC_URL, ALMANAC_KEY, ALMANAC_SPENT_KEY (a used up quota), ALMANAC_SLOW_KEY (one call a second).
"""
import io
import os
import unittest
import urllib.request

import pandas
import requests
from fredapi import Fred
from pandas_datareader.fred import FredReader

url, key = os.environ["ALMANAC_URL"], os.environ["ALMANAC_KEY"]
Fred.root_url = url + "/fred"
errors = (
    (401, "pk_live_unknown", "DEMO.GDP", "API key"),
    (402, os.environ["ALMANAC_SPENT_KEY"], "DEMO.GDP", "The monthly quota of 1 call is used up."),
    (404, key, "NOPE", "There is no series"),
    (429, os.environ["ALMANAC_SLOW_KEY"], "DEMO.GDP", "the plan allows 1 a second"),
)


class Reader(FredReader):
    url = url + "/graph/fredgraph.csv"


def by_v1(series, parameters=""):
    """The values of /v1, by the day on which FRED's quarters and months begin."""
    request = urllib.request.Request(
        f"{url}/v1/series/{series}?format=csv&limit=100000{parameters}", headers={"X-API-Key": key}
    )
    with urllib.request.urlopen(request) as answer:
        rows = pandas.read_csv(io.StringIO(answer.read().decode()), parse_dates=["date"])
    rows["date"] = rows["date"].dt.to_period("Q" if series == "DEMO.GDP" else "M").dt.start_time
    return rows.set_index("date")["value"].to_dict()


def session(credential):
    made = requests.Session()
    made.auth = (credential, "")
    return made


def message_of(call):
    """What a client says when a call is refused; a key that is refused only when hurried is used until it is."""
    for _ in range(200):
        try:
            call()
        except (ValueError, OSError) as error:
            return str(error)
    raise AssertionError("no call was refused")


class FredClients(unittest.TestCase):
    maxDiff = None

    def test_fredapi_reads_a_series(self):
        fred = Fred(key)
        self.assertEqual(fred.get_series("DEMO.GDP").to_dict(), by_v1("DEMO.GDP"))
        self.assertEqual(fred.get_series_info("DEMO.GDP")["frequency"], "Quarterly")

    def test_fredapi_reads_vintages(self):
        fred = Fred(key)
        days = fred.get_series_vintage_dates("DEMO.PAYROLLS")
        self.assertGreater(len(days), 2)
        day = days[-2].date().isoformat()
        known = fred.get_series_as_of_date("DEMO.PAYROLLS", day).groupby("date").tail(1).set_index("date")["value"]
        self.assertEqual(known.to_dict(), by_v1("DEMO.PAYROLLS", "&vintage=" + day))
        first = fred.get_series_first_release("DEMO.PAYROLLS")
        self.assertEqual(first.to_dict(), by_v1("DEMO.PAYROLLS", "&release=first"))
        releases = fred.get_series_all_releases("DEMO.PAYROLLS")
        self.assertEqual(list(releases.columns), ["realtime_start", "date", "value"])
        self.assertGreater(len(releases), len(first))
        self.assertEqual(sorted({*releases["realtime_start"]}), sorted(days))

    def test_fredapi_searches(self):
        found = Fred(key).search("gross product", order_by="title", sort_order="asc", filter=("frequency", "Quarterly"))
        self.assertIn("DEMO.GDP", list(found.index))

    def test_fredapi_shows_the_message_of_each_error(self):
        for status, credential, series, message in errors:
            with self.subTest(status):
                self.assertIn(message, message_of(lambda: Fred(credential).get_series(series)))

    def test_pandas_datareader_reads_a_series(self):
        column = Reader("DEMO.GDP", start="2020-01-01", session=session(key)).read()["DEMO.GDP"]
        expected = {day: value for day, value in by_v1("DEMO.GDP").items() if day.year >= 2020}
        self.assertEqual(column.to_dict(), expected)

    def test_pandas_datareader_shows_the_message_of_each_error(self):
        for status, credential, series, message in errors:
            with self.subTest(status):
                read = lambda: Reader(series, start="2020-01-01", retry_count=1, session=session(credential)).read()
                self.assertIn(message, message_of(read))


if __name__ == "__main__":
    unittest.main()
