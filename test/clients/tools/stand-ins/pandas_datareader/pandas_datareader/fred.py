"""Sends the requests of pandas-datareader's FredReader, and reads the answers as it does: for machines without the package."""
import io
import urllib.parse

import pandas
import requests


class FredReader:
    url = "https://fred.stlouisfed.org/graph/fredgraph.csv"

    def __init__(self, symbols, start=None, end=None, retry_count=3, pause=0.1, session=None):
        self.names = [symbols] if isinstance(symbols, str) else symbols
        self.start, self.end = pandas.to_datetime(start), pandas.to_datetime(end)
        self.session = session or requests.Session()

    def read(self):
        with self.session:
            return pandas.concat([self._column(name) for name in self.names], axis=1, join="outer")

    def _column(self, name):
        answer = self.session.get(f"{self.url}?id={name}", params=None, headers=None, timeout=30)
        if answer.status_code != 200:
            raise OSError(f"Unable to read URL: {self.url}?id={name}\nResponse Text:\n{answer.content}")
        table = pandas.read_csv(
            io.StringIO(answer.content.decode("utf-8")),
            index_col=0,
            parse_dates=True,
            header=None,
            skiprows=1,
            names=["DATE", name],
            na_values=".",
        )
        return table.truncate(self.start, self.end)
