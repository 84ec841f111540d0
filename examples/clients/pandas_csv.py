"""pandas.read_csv on the address itself."""
import sys

import pandas

from canonical import show

table = pandas.read_csv(sys.argv[1])
show(list(table.columns), table.to_dict("records"))
