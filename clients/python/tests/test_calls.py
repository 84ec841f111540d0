"""What the client does with limits, faults and odd answers, shown by a server that gives prepared ones."""
from __future__ import annotations

import gzip
import json
import math
import socket
import unittest
from unittest import mock

import almanac
from almanac.client import Client
from almanac.errors import AlmanacError

from scripted import Answer, Scripted, failure

FINE = Answer(200, {"success": True, "data": []})
KEY = "pk_live_secret"


def series(*points: dict, cursor: str | None = None, dims: list | None = None) -> Answer:
    meta = {"dims": dims or [], "unit": "Percent"}
    body = {"success": True, "series": "S", "meta": meta, "data": list(points), "pagination": {"next_cursor": cursor}}
    return Answer(200, body)


class Calls(unittest.TestCase):
    def call(self, *answers: Answer, **options: object) -> tuple[Scripted, list[float], object]:
        """One call of a client. Returns the server, the waits, and the answer or the error."""
        waits: list[float] = []
        with Scripted(list(answers)) as server:
            client = Client(KEY, server.url, sleep=waits.append, **options)  # type: ignore[arg-type]
            try:
                return server, waits, client.fetch("/v1/funds")
            except AlmanacError as error:
                return server, waits, error

    def test_waits_as_long_as_retry_after_says_and_calls_again(self) -> None:
        server, waits, answer = self.call(failure(429, "rate_limited", Retry_After="7"), FINE)
        self.assertEqual((waits, len(server.asked), answer), ([7.0], 2, {"success": True, "data": []}))

    def test_repeats_passing_faults_with_growing_waits_and_no_more_than_it_may(self) -> None:
        for status, code in [(429, "rate_limited"), (502, "upstream_error"), (503, "unavailable"), (504, "upstream_timeout")]:
            server, waits, error = self.call(failure(status, code))
            self.assertEqual((len(server.asked), error.code), (4, code))
            self.assertEqual([round(math.log2(wait / 0.5)) for wait in waits], [0, 1, 2])
        server, waits, error = self.call(failure(503, "unavailable"), retries=0)
        self.assertEqual((len(server.asked), waits), (1, []))

    def test_does_not_wait_longer_than_it_may(self) -> None:
        server, waits, error = self.call(failure(429, "rate_limited", Retry_After="61"))
        self.assertEqual((len(server.asked), waits, error.retry_after), (1, [], 61.0))
        server, waits, _ = self.call(failure(429, "rate_limited", Retry_After="25"))
        self.assertEqual((len(server.asked), waits), (3, [25.0, 25.0]))

    def test_does_not_repeat_what_would_fail_again(self) -> None:
        for status, code in [(400, "invalid_parameter"), (401, "unauthorized"), (404, "not_found"), (500, "internal")]:
            server, waits, error = self.call(failure(status, code))
            self.assertEqual((len(server.asked), error.status, error.code), (1, status, code))
        server, waits, error = self.call(failure(402, "quota_exceeded", Retry_After="5"))
        self.assertEqual((len(server.asked), waits), (1, []))

    def test_repeats_a_call_that_was_cut(self) -> None:
        whole = json.dumps({"success": True, "data": []}).encode()
        cut = Answer(200, whole[:-5], {"Content-Length": str(len(whole))})
        zipped = Answer(200, gzip.compress(whole)[:-4], {"Content-Encoding": "gzip"})
        error = json.dumps({"success": False, "error": {"code": "unavailable", "message": "Because."}}).encode()
        cut_error = Answer(503, error[:-5], {"Content-Length": str(len(error))})
        zipped_error = Answer(503, gzip.compress(error)[:-4], {"Content-Encoding": "gzip"})
        for faults in [(cut, zipped), (cut_error, zipped_error)]:
            server, waits, answer = self.call(*faults, FINE)
            self.assertEqual((len(server.asked), answer), (3, {"success": True, "data": []}))

    def test_reads_compressed_answers(self) -> None:
        body = gzip.compress(b'{"success":true,"data":[1]}')
        server, _, answer = self.call(Answer(200, body, {"Content-Encoding": "gzip"}))
        self.assertEqual((answer["data"], server.headers[0]["accept-encoding"]), ([1], "gzip"))

    def test_says_when_no_server_is_there_or_it_stays_silent(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:  # accepts, and never answers
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            waits: list[float] = []
            with self.assertRaisesRegex(AlmanacError, "nothing for 0.2 s") as caught:
                Client(url=url, timeout=0.2, sleep=waits.append).fetch("/v1/plans")
            self.assertEqual((caught.exception.code, caught.exception.status, waits), ("unreachable", None, []))
        with self.assertRaisesRegex(AlmanacError, "Connection refused"):
            Client(url=url, sleep=waits.append).fetch("/v1/plans")
        self.assertEqual(len(waits), 3)

    def test_says_when_the_answer_is_not_of_almanac(self) -> None:
        for answer in [Answer(200, b"<html>"), Answer(404, b"<html>"), Answer(200, [1]), Answer(200, {}), Answer(404, {"error": "x"})]:
            _, _, error = self.call(answer)
            self.assertEqual((error.code, error.status), ("unexpected_answer", answer.status))

    def test_gives_the_servers_own_message_and_all_it_says_of_the_error(self) -> None:
        answer = failure(400, "invalid_parameter", "“dims” is odd.", X_Request_Id="r-1")
        server, _, error = self.call(answer)
        self.assertEqual(str(error), "“dims” is odd. (400 invalid_parameter, request r-1)")
        self.assertEqual((error.message, error.docs_url), ("“dims” is odd.", f"{server.url}/docs/errors#invalid_parameter"))

    def test_names_the_arguments_of_a_function_instead_of_the_parameters_of_the_api(self) -> None:
        def refused(code: str, param: str, message: str, function: object = almanac.get) -> tuple[object, str]:
            answer = failure(400, code, message)
            json_of = json.loads(answer.body)
            json_of["error"]["param"] = param
            with Scripted([Answer(400, json_of)]) as server, self.assertRaises(AlmanacError) as caught:
                function("S", client=Client(KEY, server.url))  # type: ignore[operator]
            self.assertIn(caught.exception.message, str(caught.exception))
            return caught.exception.param, caught.exception.message

        for function in (almanac.get, almanac.latest, almanac.vintages, almanac.triangle):
            order = refused("invalid_parameter", "from", '"from" must not be after "to".', function)
            self.assertEqual(order, ("start", '"start" must not be after "end".'))
        future = refused("invalid_parameter", "vintage", '"vintage" must not be in the future; today is 2026-11-30.')
        self.assertEqual(future, ("as_of", '"as_of" must not be in the future; today is 2026-11-30.'))
        other = refused("unknown_dimension", "dims", 'There is no dimension "to".')
        self.assertEqual(other, ("dims", 'There is no dimension "to".'))

    def test_sends_the_key_as_a_header_and_to_nobody_else(self) -> None:
        with Scripted([FINE]) as other:
            server, _, error = self.call(Answer(302, b"", {"Location": other.url}))
            self.assertEqual((server.headers[0]["x-api-key"], other.asked, error.status), (KEY, [], 302))
        self.assertNotIn(KEY, server.asked[0] + str(error) + repr(Client(KEY)))

    def test_takes_the_key_and_the_address_from_the_environment_or_the_arguments(self) -> None:
        with Scripted([FINE]) as server:
            with mock.patch.dict("os.environ", {"ALMANAC_KEY": "of-the-environment", "ALMANAC_URL": f"{server.url}/"}):
                Client().fetch("/v1/funds")
                Client("argument").fetch("/v1/funds")
            with mock.patch.dict("os.environ", {"ALMANAC_KEY": ""}):
                Client(url=server.url).fetch("/v1/funds")
        self.assertEqual([sent.get("x-api-key") for sent in server.headers], ["of-the-environment", "argument", None])
        self.assertEqual(server.asked[0], "/v1/funds")
        with self.assertRaisesRegex(ValueError, "http"):
            Client(url="file:///etc/passwd")


class Frames(unittest.TestCase):
    def test_follows_pages_to_the_end_with_the_same_parameters(self) -> None:
        point = {"dims": {}, "date": "2024-01-31", "value": 1}
        with Scripted([series(point, cursor="c+/"), series({**point, "date": "2024-02-29", "value": None})]) as server:
            frame = almanac.get("A/B", as_of="2024-03-31", missing=True, client=Client(KEY, server.url))
        asked = "/v1/series/A%2FB?vintage=2024-03-31&include_missing=true&limit=100000"
        self.assertEqual(server.asked, [asked, "/v1/series/S?vintage=2024-03-31&include_missing=true&limit=100000&cursor=c%2B%2F"])
        self.assertEqual(frame["S"].isna().tolist(), [False, True])
        self.assertEqual(str(frame["S"].dtype), "float64")

    def test_writes_days_periods_and_dimensions_as_the_api_spells_them(self) -> None:
        import datetime

        import pandas

        with Scripted([series()]) as server:
            dims = {"side": "buy", "item": ["a,b", "c|d\\"]}
            period = pandas.Period("2024Q3")
            almanac.get("S", as_of=datetime.date(2024, 3, 31), start=period, end=pandas.Timestamp(2024, 12, 1), dims=dims,
                        version=8, client=Client(KEY, server.url))
        sent = "dims=side%3Abuy%2Citem%3Aa%5C%2Cb%7Cc%5C%7Cd%5C%5C&version=8&limit=100000"
        self.assertEqual(server.asked, [f"/v1/series/S?from=2024-07-01&to=2024-12-01&vintage=2024-03-31&{sent}"])

    def test_periods_of_fiscal_years_are_the_days_that_they_cover(self) -> None:
        import pandas

        quarter = pandas.Period("2024Q1", "Q-JUN")
        year = pandas.Period("2024", pandas.offsets.YearEnd(month=6))
        with Scripted([series()]) as server:
            client = Client(KEY, server.url)
            almanac.get("S", start=quarter, end=quarter, as_of=year, base=quarter, client=client)
            almanac.get("S", start=year, end=year, base=pandas.Period("2024", "M"), client=client)
            with self.assertRaisesRegex(ValueError, "base must be"):
                almanac.get("S", base=year, client=client)
        sent = "from=2023-07-01&to=2023-09-30&vintage=2024-06-30&base=2023-Q3"
        self.assertEqual(server.asked[0], f"/v1/series/S?{sent}&limit=100000")
        self.assertEqual(server.asked[1], "/v1/series/S?from=2023-07-01&to=2024-06-30&base=2024-01&limit=100000")

    def test_a_series_without_points_is_an_empty_frame_of_the_usual_types(self) -> None:
        for layout, columns in [("wide", ["S"]), ("long", ["series", "value"])]:
            with Scripted([series()]) as server:
                frame = almanac.get("S", layout=layout, client=Client(KEY, server.url))
            self.assertEqual((list(frame.columns), len(frame), frame.index.name), (columns, 0, "date"))
            self.assertEqual((str(frame.index.dtype), str(frame[columns[-1]].dtype)), ("datetime64[ns]", "float64"))

    def test_numbers_of_many_digits_and_null_become_floats(self) -> None:
        values = [10**30, 0.1, None]
        points = [{"dims": {}, "date": f"2024-01-0{day + 1}", "value": value} for day, value in enumerate(values)]
        for layout in ["wide", "long"]:
            with Scripted([series(*points)]) as server:
                frame = almanac.get("S", layout=layout, client=Client(KEY, server.url))
            self.assertEqual(frame.iloc[:2, -1].tolist(), [1e30, 0.1])
            self.assertTrue(math.isnan(frame.iloc[2, -1]))

    def test_a_list_stops_at_the_rows_asked_for(self) -> None:
        page = {"success": True, "data": [{"id": "a"}, {"id": "b"}], "pagination": {"next_cursor": "next"}}
        with Scripted([Answer(200, page)]) as server:
            frame = almanac.table("/v1/funds", rows=3, from_="2024", shariah=True, client=Client(KEY, server.url))
        self.assertEqual((frame["id"].tolist(), len(server.asked)), (["a", "b", "a"], 2))
        asked = "/v1/funds?limit=3&from=2024&shariah=true"
        self.assertEqual(server.asked, [asked, f"{asked}&cursor=next"])

    def test_a_comma_of_a_text_in_a_list_does_not_divide_it(self) -> None:
        with Scripted([FINE]) as server:
            almanac.catalogue(source=["Food, drink", "Office"], client=Client(KEY, server.url))
        self.assertEqual(server.asked, ["/v1/catalog?limit=1000&source=%22Food%2C+drink%22%2COffice"])


if __name__ == "__main__":
    unittest.main()
