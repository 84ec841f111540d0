"""The expected frequencies and transforms of published points, by pandas. Reads one series a line, writes its answers a line.

A line: {"id", "frequency", "fiscal": month of the year's end, "points": [[date, digits], ...]}. An answer: the query to its points.
"""

import json
import sys

import numpy as np
import pandas as pd

RULES = {"weekly": "W-SUN", "monthly": "M", "quarterly": "Q-DEC", "annual": "A-DEC"}
LOWER = ["weekly", "monthly", "quarterly", "annual"]
PER_YEAR = {"weekly": 52, "monthly": 12, "quarterly": 4, "annual": 1}
MONTHS = {"monthly": 1, "quarterly": 3, "annual": 12}
AGGREGATES = {"avg": "mean", "sum": "sum", "last": "last", "first": "first", "min": "min", "max": "max"}


def complete(values, frequency, target, periods):
    """The periods of which the data is complete: counted for months and longer, by the days at their ends for days and weeks."""
    rule = RULES[target]
    if frequency in MONTHS:
        counts = values.resample(rule).count()
        return counts == MONTHS[target] // MONTHS[frequency]
    gap = 31 if frequency == "daily" and target != "weekly" else 10
    days = values.index
    before = pd.Series(days, index=days).diff().dt.days
    after = before.shift(-1)
    flags = {}
    for end in periods:
        own = end.to_period(rule)
        inside = days[(days >= own.start_time) & (days <= own.end_time)]
        if len(inside) == 0:
            flags[end] = False
            continue
        start, last = own.start_time.normalize(), own.end_time.normalize()
        if frequency == "weekly":
            begins, ends = inside[0] <= start + pd.Timedelta(days=6), inside[-1] > last - pd.Timedelta(days=7)
        else:
            grace = 1 if target == "weekly" else 6
            workday = last if (inside.dayofweek >= 5).any() else np.busday_offset(last.date(), 0, roll="backward")
            begins, ends = inside[0] <= start + pd.Timedelta(days=grace), inside[-1] >= pd.Timestamp(workday)
        begins = begins or before[inside[0]] <= gap
        ends = ends or after[inside[-1]] <= gap
        flags[end] = bool(begins and ends and (before[inside[1:]] <= gap).all())
    return pd.Series(flags)


def by_calendar(values, frequency):
    """With a row for every period, so that a shift by rows is one by the calendar."""
    return values.asfreq(RULES[frequency])


def transformed(x, n):
    """Of values with a row for every period; n of them are a year."""
    positive = x.where(x > 0)
    log = np.log(positive)
    is_positive = (x.dropna() > 0).all()

    def ratio(earlier):
        return x / earlier.where(earlier > 0)

    return {
        "pct_change": x.pct_change(fill_method=None) * 100 if is_positive else (ratio(x.shift(1)) - 1) * 100,
        "yoy": x.pct_change(n, fill_method=None) * 100 if is_positive else (ratio(x.shift(n)) - 1) * 100,
        "change": x.diff(),
        "change_yoy": x.diff(n),
        "3ma": x.rolling(3).mean(),
        "log": log,
        "log_change": log.diff() * 100,
        "log_change_annualised": log.diff() * 100 * n,
        "annualised": (ratio(x.shift(1)).where(x >= 0) ** n - 1) * 100,
        "cumulative": x.cumsum(),
        "zscore": (x - x.mean()) / x.std(),
    }


def written(values):
    finite = values[np.isfinite(values)]
    return [[str(day.date()), float(value)] for day, value in finite.items()]


def answers(series):
    frequency = series["frequency"]
    index = pd.to_datetime([day for day, _ in series["points"]])
    values = pd.Series([float(digits) for _, digits in series["points"]], index=index).sort_index()
    found = {}
    if frequency in MONTHS:
        for name, result in transformed(by_calendar(values, frequency), PER_YEAR[frequency]).items():
            found[f"transform={name}"] = written(result)
    for target in LOWER[LOWER.index(frequency) + 1 :] if frequency in LOWER else LOWER:
        rule = RULES[target]
        periods = values.resample(rule)
        full = complete(values, frequency, target, periods.count().index)
        for name, method in AGGREGATES.items():
            result = getattr(periods, method)().where(periods.count() > 0)
            query = f"frequency={target}&aggregate={name}"
            found[f"{query}&incomplete=true"] = written(result)
            whole = result.where(full)
            found[query] = written(whole)
            if name not in ("avg", "last") or target == "weekly":
                continue
            for transform, each in transformed(whole, PER_YEAR[target]).items():
                found[f"{query}&transform={transform}"] = written(each)
    return found


for line in sys.stdin:
    print(json.dumps(answers(json.loads(line))), flush=True)
