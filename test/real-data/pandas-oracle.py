"""The expected frequencies and transforms of published points, by pandas on decimals of 50 digits, written from docs/transforms.md alone.

Reads one series a line: {"frequency", "fiscal_year_end", "points": [[date, digits or ""], ...], "questions": [{"transform", "frequency",
"aggregate", "incomplete", "base", "last"}, ...]}, where only "transform" is always in a question. Writes a line for it: the points of each
question, of 30 digits, or null for a base that is not within the data.
"""

import json
import sys
from functools import lru_cache
from decimal import ROUND_HALF_UP, Context, Decimal, setcontext

import numpy as np
import pandas as pd

setcontext(Context(prec=50, Emax=999_999, Emin=-999_999))

PER_YEAR = {"daily": 260, "weekly": 52, "monthly": 12, "quarterly": 4, "semiannual": 2, "annual": 1}
MONTHS = {"monthly": 1, "quarterly": 3, "semiannual": 6, "annual": 12}
FRED = {
    "lin": "lin", "chg": "change", "ch1": "change_yoy", "pch": "pct_change", "pc1": "yoy",
    "pca": "annualised", "log": "log", "cch": "log_change", "cca": "log_change_annualised",
}  # fmt: skip
DAY = pd.Timedelta(days=1)


def mean(total, count):
    """Rounded to ten decimals, or four more than the terms have; exact if they have more than this can hold."""
    decimals = max(10, 4 - total.as_tuple().exponent)
    exact = total / count
    return exact if decimals > 30 else exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)


AGGREGATES = {
    "avg": lambda values: sum(values) / len(values),
    "rounded avg": lambda values: mean(sum(values), len(values)),
    # Zeros at the end of a computed number do not count as its decimals.
    "sum": lambda values: sum(values).normalize(),
    "first": lambda values: values.iloc[0],
    "last": lambda values: values.iloc[-1],
    "min": min,
    "max": max,
}


@lru_cache(maxsize=None)
def year_end(year, fiscal):
    month, day = (int(part) for part in fiscal.split("-"))
    last = pd.Timestamp(year, month, 1) + pd.offsets.MonthEnd(0)
    return last if month == 2 and day >= 28 else last.replace(day=day)


def ends(days, target, fiscal):
    """The last day of the period in which each day is."""
    if target == "weekly":
        return days + pd.to_timedelta(6 - days.dayofweek, unit="D")
    if target == "annual":
        return pd.DatetimeIndex([year_end(day.year + (day > year_end(day.year, fiscal)), fiscal) for day in days])
    months = MONTHS[target]
    last = ((days.month - 1) // months + 1) * months
    firsts = pd.to_datetime({"year": days.year, "month": last, "day": 1})
    return pd.DatetimeIndex(firsts) + pd.offsets.MonthEnd(0)


def begin(end, target, fiscal):
    if target == "annual":
        return year_end(end.year - 1, fiscal) + DAY
    return end - 6 * DAY if target == "weekly" else end - pd.offsets.MonthEnd(MONTHS[target]) + DAY


def is_complete(end, inside, days, frequency, target, fiscal):
    """Whether the period that ends there is, by its own dates and the neighbouring ones."""
    gap = 31 if frequency == "daily" and target != "weekly" else 10
    start = begin(end, target, fiscal)
    if frequency == "weekly":
        starts, stops = inside[0] < start + 7 * DAY, inside[-1] > end - 7 * DAY
    else:
        last = end if (inside.dayofweek >= 5).any() else pd.Timestamp(np.busday_offset(end.date(), 0, roll="backward"))
        starts, stops = inside[0] < start + (2 if target == "weekly" else 7) * DAY, inside[-1] >= last
    first, after = days.searchsorted(inside[0]), days.searchsorted(inside[-1]) + 1
    starts = starts or (first > 0 and inside[0] - days[first - 1] <= gap * DAY)
    stops = stops or (after < len(days) and days[after] - inside[-1] <= gap * DAY)
    return bool(starts and stops and (inside[1:] - inside[:-1] <= gap * DAY).all())


def complete(points, frequency, target, fiscal):
    values = points.dropna()
    if frequency in MONTHS:
        counts = values.groupby(ends(values.index, target, fiscal)).count()
        return set(counts.index[counts == MONTHS[target] // MONTHS[frequency]])
    days = points.index
    by_end = pd.Series(days, index=days).groupby(ends(days, target, fiscal))
    return {end for end, own in by_end if is_complete(end, pd.DatetimeIndex(own), days, frequency, target, fiscal)}


def earlier(x, keys, within, exact):
    """The last value on or before each key, or before it, and no older than that many days."""
    left = pd.DataFrame({"key": keys})
    right = pd.DataFrame({"key": x.index, "row": range(len(x))})
    tolerance = None if within is None else pd.Timedelta(days=within)
    rows = pd.merge_asof(left, right, on="key", tolerance=tolerance, allow_exact_matches=exact)["row"]
    return pd.Series([None if np.isnan(row) else x.iloc[int(row)] for row in rows], index=x.index, dtype=object)


def before(x, frequency):
    """The value of the period before each."""
    if frequency in MONTHS:
        return by_calendar(x, months=MONTHS[frequency])
    within = {"daily": 7, "weekly": 10, "irregular": None}[frequency]
    return earlier(x, x.index, within, exact=False)


def months_before(x, frequency, months):
    if frequency in MONTHS:
        return by_calendar(x, months)
    return earlier(x, x.index - pd.DateOffset(months=months), 7, exact=True)


def by_calendar(x, months):
    shorter = [pd.offsets.MonthEnd(months) if day.is_month_end else pd.DateOffset(months=months) for day in x.index]
    found = x.reindex([day - months for day, months in zip(x.index, shorter)])
    return pd.Series(found.to_numpy(), index=x.index, dtype=object)


def is_number(value):
    return isinstance(value, Decimal)


def pairs(x, other, compute):
    """Computed where there are both; None where the computation has no result."""
    each = [compute(a, b) if is_number(a) and is_number(b) else None for a, b in zip(x, other)]
    return pd.Series(each, index=x.index, dtype=object)


def ratio(a, b):
    return (a - b) / b * 100 if b > 0 else None


def log_change(a, b):
    return (a.ln() - b.ln()) * 100 if a > 0 and b > 0 else None


def annualised(n):
    return lambda a, b: ((a / b) ** n - 1) * 100 if b > 0 and a >= 0 else None


def index(x):
    return index_of(x, x[x != 0][:1])


def index_of(x, base):
    return x[:0] if len(base) == 0 or base.iloc[0] < 0 else x * 100 / base.iloc[0]


def index_with_base(x, text, frequency, fiscal):
    """None if the base is not within the data."""
    period = pd.Period(text)
    start, end = period.start_time, period.end_time.normalize()
    is_day = period.freqstr == "D"
    if frequency in MONTHS:
        start = begin(ends(pd.DatetimeIndex([start]), frequency, fiscal)[0], frequency, fiscal)
        end = ends(pd.DatetimeIndex([end]), frequency, fiscal)[0]
    elif is_day:
        start -= 7 * DAY
    inside = x[(x.index >= start) & (x.index <= end) & (x != 0)]
    if len(inside) == 0 and (start > x.index[-1] or end < x.index[0]):
        return None
    return index_of(x, inside[-1:] if is_day and frequency not in MONTHS else inside[:1])


def zscore(x):
    if x.nunique() < 2:
        return x[:0]
    mean = sum(x) / len(x)
    deviation = (sum((x - mean) ** 2) / (len(x) - 1)).sqrt()
    return (x - mean) / deviation


def three(x, frequency):
    one = before(x, frequency)
    if frequency in MONTHS:
        two = by_calendar(x, 2 * MONTHS[frequency])
    else:
        # Each value's row is found like a value: the value two periods earlier is the one before the one before.
        last = before(pd.Series(range(len(x)), index=x.index, dtype=object), frequency)
        two = pd.Series([None if row is None else one.iloc[row] for row in last], index=x.index, dtype=object)
    each = [mean(a + b + c, 3) if is_number(b) and is_number(c) else None for a, b, c in zip(x, one, two)]
    return pd.Series(each, index=x.index, dtype=object)


def transformed(x, name, frequency):
    """Of values without missing ones; the result has None or nothing where there is none."""
    n = PER_YEAR.get(frequency)
    if name == "lin":
        return x
    if name in ("change", "pct_change", "annualised", "log_change", "log_change_annualised"):
        compute = {
            "change": lambda a, b: a - b,
            "pct_change": ratio,
            "log_change": log_change,
            "annualised": annualised(n),
            "log_change_annualised": log_change,
        }[name]
        found = pairs(x, before(x, frequency), compute)
        return found.dropna() * n if name == "log_change_annualised" else found
    if name in ("change_yoy", "yoy", "mom"):
        other = months_before(x, frequency, 1 if name == "mom" else 12)
        return pairs(x, other, (lambda a, b: a - b) if name == "change_yoy" else ratio)
    if name == "cumulative":
        return x.cumsum()
    if name == "log":
        return x[x > 0].map(lambda value: value.ln())
    return {"index": index, "zscore": zscore, "3ma": lambda values: three(values, frequency)}[name](x)


def written(x):
    """Without those that have no value or are too large for a number."""
    found = [(day, value) for day, value in x.items() if is_number(value) and np.isfinite(float(value))]
    return [[str(day.date()), format(value, ".30g")] for day, value in found]


class Series:
    def __init__(self, frequency, fiscal, points):
        days = pd.to_datetime([day for day, _ in points])
        digits = [Decimal(value) if value else None for _, value in points]
        self.points = pd.Series(digits, index=days, dtype=object).sort_index()
        self.frequency = frequency
        self.fiscal = fiscal or "12-31"
        self.values = self.points.dropna()
        self.complete = {}
        self.aggregated = {}

    def of(self, target, aggregate, incomplete):
        if target == self.frequency:
            return self.values
        if (target, aggregate) not in self.aggregated:
            periods = self.values.groupby(ends(self.values.index, target, self.fiscal))
            each = {end: AGGREGATES[aggregate](own) for end, own in periods}
            self.aggregated[target, aggregate] = pd.Series(each, dtype=object)
        found = self.aggregated[target, aggregate]
        if incomplete:
            return found
        if target not in self.complete:
            self.complete[target] = complete(self.points, self.frequency, target, self.fiscal)
        return found[[end in self.complete[target] for end in found.index]]

    def answer(self, question):
        target = question.get("frequency", self.frequency)
        name = FRED.get(question["transform"], question["transform"])
        aggregate = question.get("aggregate", "avg")
        # Only the answer is rounded: a transform is of the exact mean.
        rounded = "rounded avg" if aggregate == "avg" and name == "lin" else aggregate
        x = self.of(target, rounded, question.get("incomplete", False))
        if len(x) == 0:
            return []
        if "base" in question:
            found = index_with_base(x, question["base"], target, self.fiscal)
            if found is None:
                return None
        else:
            found = transformed(x, name, target)
        return written(found)[-question.get("last", 0) :]


for line in sys.stdin:
    asked = json.loads(line)
    one = Series(asked["frequency"], asked["fiscal_year_end"], asked["points"])
    print(json.dumps([one.answer(question) for question in asked["questions"]]), flush=True)
