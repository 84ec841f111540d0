"""pandas.read_json on the points of the JSON answer; the dimensions become columns."""
import io
import json
import sys
import urllib.request

import pandas

from canonical import show

with urllib.request.urlopen(sys.argv[1]) as answer:
    points = json.load(answer)["data"]
table = pandas.read_json(io.StringIO(json.dumps(points)), convert_dates=False)
dims = pandas.json_normalize(table.pop("dims"))
table = pandas.concat([table, dims], axis=1)
show(list(table.columns), table.to_dict("records"))
