"""The package against a running installation with the demo data: ALMANAC_URL, ALMANAC_KEY (of plan Pro), ALMANAC_SLOW_KEY (of
plan Free, whose calls per second are few).

What the package says is compared with the API's CSV, read by Python's own csv module.
"""
from __future__ import annotations

import csv
import io
import json
import math
import os
import time
import unittest
import urllib.error
import urllib.request
from typing import Any, Iterator
from unittest import mock

import pandas as pd

import almanac
from almanac.frames import is_day, is_instant

URL, KEY = os.environ["ALMANAC_URL"], os.environ["ALMANAC_KEY"]


def read(path: str) -> str:
    request = urllib.request.Request(URL + path, headers={"X-API-Key": KEY})
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def rows_of(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(read(path))))


class Series(unittest.TestCase):
    def assert_same(self, frame: pd.DataFrame, rows: list[dict[str, str]]) -> None:
        """Compares a long frame with the rows of the API's CSV, cell by cell."""
        self.assertGreater(len(rows), 0)
        self.assertEqual(len(frame), len(rows))
        for (date, point), row in zip(frame.iterrows(), rows):
            self.assertEqual(date.strftime("%Y-%m-%d"), row.pop("date"))
            self.assertEqual(point["value"], float(row.pop("value")))
            self.assertEqual({name: point[name] for name in row}, row)

    def test_get_equals_the_csv_of_the_api(self) -> None:
        for name, options, query in [
            ("DEMO.CPI", {}, ""),
            ("DEMO.CPI", {"as_of": "2026-09-30"}, "vintage=2026-09-30"),
            ("DEMO.CPI", {"transform": "yoy", "start": "2024", "end": "2025-06"}, "transform=yoy&from=2024&to=2025-06"),
            ("DEMO.CPI", {"transform": "index", "base": "2020"}, "transform=index&base=2020"),
            (
                "DEMO.CPI",
                {"frequency": "annual", "aggregate": "last", "incomplete": True},
                "frequency=annual&aggregate=last&incomplete=true",
            ),
            ("DEMO.GDP", {"release": "first"}, "release=first"),
            ("DEMO.FX", {"dims": {"currency": ["EUR", "GBP"], "side": "buy"}}, "dims=currency:EUR%7CGBP,side:buy"),
            ("commodity.demo-rice", {"start": "2026-06"}, "from=2026-06"),
        ]:
            with self.subTest(name=name, query=query):
                rows = rows_of(f"/v1/series/{name}?format=csv&{query}")
                self.assert_same(almanac.get(name, layout="long", **options), rows)

    def test_pages_make_the_same_frame_as_one_call(self) -> None:
        whole = almanac.get(["DEMO.FX", "DEMO.CPI"], start="2025")
        with mock.patch("almanac.series._LARGEST_PAGE", 500):
            pd.testing.assert_frame_equal(almanac.get(["DEMO.FX", "DEMO.CPI"], start="2025"), whole)

    def test_several_series_are_the_columns_of_each_side_by_side(self) -> None:
        both = almanac.get(["DEMO.CPI", "DEMO.GDP"], start="2025", transform="yoy")
        self.assertEqual(list(both.columns), ["DEMO.CPI", "DEMO.GDP"])
        for name in both.columns:
            alone = almanac.get(name, start="2025", transform="yoy")
            pd.testing.assert_series_equal(both[name].dropna(), alone[name], check_freq=False)
            self.assertEqual(both.attrs["series"][name]["unit"], "%")
        self.assertGreater(both["DEMO.GDP"].isna().sum(), 0)

    def test_the_wide_columns_are_the_combinations_of_the_long_rows(self) -> None:
        wide = almanac.get("DEMO.FX", start="2026-10")
        long = almanac.get("DEMO.FX", start="2026-10", layout="long")
        self.assertEqual(wide.notna().sum().sum(), len(long))
        for label, origin in wide.attrs["columns"].items():
            dims = origin["dims"]
            chosen = long[(long["currency"] == dims["currency"]) & (long["side"] == dims["side"])]["value"]
            self.assertEqual(label, f"DEMO.FX currency={dims['currency']} side={dims['side']}")
            self.assertEqual(wide[label].dropna().tolist(), chosen.tolist())

    def test_a_pinned_version_gives_the_same_points_again(self) -> None:
        first = almanac.get("DEMO.GDP", as_of="2026-09-30")
        version = first.attrs["series"]["DEMO.GDP"]["version"]
        pd.testing.assert_frame_equal(almanac.get("DEMO.GDP", as_of="2026-09-30", version=version), first)
        both = almanac.get(["DEMO.GDP", "DEMO.CPI"], as_of="2026-09-30", version=version)
        self.assertEqual(both["DEMO.GDP"].dropna().tolist(), first["DEMO.GDP"].tolist())

    def test_vintages_are_those_of_the_api_and_each_can_be_fetched(self) -> None:
        frame = almanac.vintages("DEMO.GDP")
        rows = rows_of("/v1/series/DEMO.GDP/vintages?format=csv")
        self.assertEqual([day.strftime("%Y-%m-%d") for day in frame.index], [row["vintage"] for row in rows])
        self.assertEqual(frame["points_revised"].tolist(), [int(row["points_revised"]) for row in rows])
        count = frame["points_new"].cumsum() - frame["points_deleted"].cumsum()
        for day in frame.index:
            self.assertEqual(len(almanac.get("DEMO.GDP", as_of=day)), count[day])

    def test_the_triangle_is_every_vintage_cell_by_cell(self) -> None:
        wide = almanac.triangle("DEMO.PAYROLLS", start="2025")
        long = almanac.triangle("DEMO.PAYROLLS", start="2025", layout="long")
        days = [day for day in almanac.vintages("DEMO.PAYROLLS").index if wide[day].notna().any()]
        self.assertGreater(len(days), 10)
        for day in days:
            alone = almanac.get("DEMO.PAYROLLS", start="2025", as_of=day)["DEMO.PAYROLLS"]
            pd.testing.assert_series_equal(wide[day].dropna(), alone, check_names=False, check_freq=False)
            cells = long[long["vintage"] == day].set_index("date")["value"]
            pd.testing.assert_series_equal(cells, alone, check_names=False, check_freq=False)
        self.assertEqual(len(long), wide.notna().sum().sum())
        last = almanac.triangle("DEMO.PAYROLLS", start="2025", last=2)
        pd.testing.assert_frame_equal(last, wide[days[-2:]].dropna(how="all"), check_freq=False)
        some = almanac.triangle("DEMO.PAYROLLS", start="2025", vintages_start=days[-5], vintages_end=days[-3])
        pd.testing.assert_frame_equal(some, wide[days[-5:-2]].dropna(how="all"), check_freq=False)

    def test_a_triangle_of_a_series_with_dimensions_names_them(self) -> None:
        wide = almanac.triangle("DEMO.FX", start="2026-10", dims={"side": "buy"})
        long = almanac.triangle("DEMO.FX", start="2026-10", dims={"side": "buy"}, layout="long")
        self.assertEqual(list(wide.index.names), ["currency", "side", "date"])
        self.assertEqual(list(long.columns), ["vintage", "date", "currency", "side", "value"])
        euro = almanac.get("DEMO.FX", start="2026-10", dims={"currency": "EUR", "side": "buy"}).iloc[:, 0]
        self.assertEqual(wide.loc[("EUR", "buy")].iloc[:, -1].tolist(), euro.tolist())
        none = almanac.triangle("DEMO.FX", end="1900")
        self.assertEqual((len(none), list(none.index.names)), (0, ["currency", "side", "date"]))

    def test_latest_has_the_newest_point_of_each_combination(self) -> None:
        self.assert_same(almanac.latest("DEMO.EXPORTS"), rows_of("/v1/series/DEMO.EXPORTS/latest?format=csv"))


class Lists(unittest.TestCase):
    def test_a_list_is_read_to_its_end_page_by_page(self) -> None:
        rows = rows_of("/v1/catalog?format=csv&sort=id")
        frame = almanac.catalogue(sort="id", limit=3)
        self.assertGreater(len(rows), 6)
        self.assertEqual(frame["id"].tolist(), [row["id"] for row in rows])
        self.assertEqual(frame["last_date"].dt.strftime("%Y-%m-%d").tolist(), [row["last_date"] for row in rows])

    def test_each_list_has_rows(self) -> None:
        frames = {
            "funds": almanac.funds(rows=5),
            "securities": almanac.securities(rows=5),
            "auctions": almanac.auctions(rows=5),
            "trade": almanac.trade(rows=5, flow="export"),
            "trades": almanac.table("/v1/securities/trades", rows=5),
            "nav": almanac.nav("harbour-cash", from_="2026", rows=5),
        }
        self.assertEqual({name: len(frame) for name, frame in frames.items()}, dict.fromkeys(frames, 5))
        self.assertGreater(len(almanac.calendar(series="DEMO.CPI")), 0)
        self.assertEqual(str(frames["nav"].index.dtype), "datetime64[ns]")
        self.assertEqual(str(frames["funds"]["as_of"].dtype), "datetime64[ns]")
        self.assertEqual(str(frames["trades"]["as_of"].dtype), "bool")  # here it says whether the trade was reported later

    def test_search_needs_no_key(self) -> None:
        with mock.patch.dict("os.environ", {"ALMANAC_KEY": ""}):
            self.assertIn("DEMO.CPI", almanac.search("consumr prices")["id"].tolist())
            with self.assertRaises(almanac.AlmanacError) as caught:
                almanac.get("DEMO.CPI")
        self.assertEqual((caught.exception.status, caught.exception.code), (401, "unauthorized"))

    def test_every_day_and_instant_of_the_documents_lists_is_read_as_one(self) -> None:
        seen = 0
        for name, field_format in fields_of_lists(json.loads(read("/v1/openapi.json"))):
            seen += field_format is not None
            with self.subTest(field=name):
                self.assertEqual((is_day(name), is_instant(name)), (field_format == "date", field_format == "date-time"))
        self.assertGreater(seen, 30)


class Errors(unittest.TestCase):
    def test_the_exception_has_the_servers_own_message(self) -> None:
        for name, options, query in [
            ("DEMO.CPY", {}, ""),
            ("DEMO.GDP", {"transform": "mom"}, "?transform=mom"),
            ("DEMO.FX", {"dims": {"currncy": "EUR"}}, "?dims=currncy:EUR"),
        ]:
            with self.assertRaises(urllib.error.HTTPError) as answer:
                read(f"/v1/series/{name}{query}")
            said = json.loads(answer.exception.read())["error"]
            answer.exception.close()
            with self.assertRaises(almanac.AlmanacError) as caught:
                almanac.get(name, **options)
            error = caught.exception
            self.assertEqual((error.status, error.code, error.message), (answer.exception.code, said["code"], said["message"]))
            self.assertEqual(error.param, said.get("param"))
            self.assertRegex(error.request_id or "", r"^[0-9a-f-]{36}$")
            self.assertIn(said["message"], str(error))


    def test_the_exception_names_the_arguments_of_the_function(self) -> None:
        with self.assertRaisesRegex(almanac.AlmanacError, '^"start" is "last year", but must be a date') as caught:
            almanac.get("DEMO.CPI", start="last year")
        self.assertEqual(caught.exception.param, "start")


class Limits(unittest.TestCase):
    def test_a_call_that_met_the_limit_per_second_is_repeated_after_retry_after(self) -> None:
        waits: list[float] = []

        def wait(seconds: float) -> None:
            waits.append(seconds)
            time.sleep(seconds)

        client = almanac.Client(os.environ["ALMANAC_SLOW_KEY"], sleep=wait)
        for _ in range(200):
            self.assertEqual(len(almanac.latest("DEMO.CPI", client=client)), 1)
            if waits:
                break
        self.assertEqual(set(waits), {1.0})


def fields_of_lists(document: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """The fields of the rows of every list under /v1, with the format of those that are days or instants."""

    def resolved(schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            target: Any = document
            for part in schema["$ref"].split("/")[1:]:
                target = target[part]
            schema = target
        return schema

    def format_of(schema: dict[str, Any]) -> str | None:
        schema = resolved(schema)
        kinds = [schema.get("format"), *(format_of(each) for each in schema.get("anyOf", []))]
        return next((kind for kind in kinds if kind in ("date", "date-time")), None)

    for path, methods in document["paths"].items():
        content = resolved(methods.get("get", {}).get("responses", {}).get("200", {})).get("content", {})
        answer = resolved(content.get("application/json", {}).get("schema", {}))
        data = resolved(answer.get("properties", {}).get("data", {}))
        if not path.startswith("/v1/") or "meta" in answer.get("required", []) or data.get("type") != "array":
            continue
        for name, schema in resolved(data["items"]).get("properties", {}).items():
            if "boolean" not in json.dumps(schema):
                yield name, format_of(schema)


if __name__ == "__main__":
    unittest.main()
