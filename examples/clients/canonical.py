"""Prints a table in one plain form, so that tables read by different programs can be compared as text."""
import csv
import sys


def show(columns, rows):
    """Prints columns in the order date, value, then by name; numbers to ten digits, what is missing as an empty cell."""
    order = ["date", "value", *sorted(set(columns) - {"date", "value"})]
    print(",".join(order))
    for row in rows:
        print(",".join(cell(column, row[column]) for column in order))


def cell(column, value):
    if value is None or value == "" or value != value:  # NaN is not itself
        return ""
    return f"{float(value):.10g}" if column == "value" else str(value)[:10] if column == "date" else str(value)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        show(reader.fieldnames, list(reader))
