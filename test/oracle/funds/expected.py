#!/usr/bin/env python3
"""Makes three synthetic funds and works out their figures with pandas and numpy, from the definitions in docs/funds.md.

The tests compare the figures of data-api/ with what is stored in expected.json. Nothing here is translated from there:
payouts are reinvested by the daily total return and not by units, NAVs are found by Series.asof on a calendar of days,
months by resample, beta and alpha by a least-squares line, drawdowns by cummax, the XIRR by Newton's method on r.

Run: python3 test/oracle/funds/expected.py   (needs python3-pandas and python3-numpy; writes expected.json beside itself)
"""
import json
from pathlib import Path

import numpy as np
import pandas as pd

SLACK = pd.Timedelta(days=7)
DAY = pd.Timedelta(days=1)


# ---------------------------------------------------------------- the funds

MARKET_DAYS = pd.date_range("2018-01-01", "2024-12-31")
MARKET = pd.Series(np.random.default_rng(0).normal(0, 0.008, len(MARKET_DAYS)), index=MARKET_DAYS)


def make_fund(seed, start, end, drift, swing, days, payouts=(), unpublished=(), decimals=4, market=0.0):
    """A random walk, in part the market's, on the given days of the week; `unpublished` NAVs are 0 or missing."""
    random = np.random.default_rng(seed)
    dates = pd.date_range(start, end)
    dates = dates[dates.dayofweek.isin(days)]
    dates = dates[random.random(len(dates)) > 0.03]  # holidays
    steps = pd.Series(random.normal(drift, swing, len(dates)), index=dates)
    steps += market * MARKET[dates]
    for payout in payouts:  # the NAV falls by what is paid
        at = dates[dates >= payout["ex_date"]][0]
        steps[at] -= float(payout["payout_per_unit"] or 0) / 100
    nav = 100 * (1 + steps).cumprod()
    points = [{"date": str(d.date()), "nav": f"{v:.{decimals}f}"} for d, v in nav.items()]
    for i, nothing in unpublished:
        points[i]["nav"] = nothing
    return points


FUNDS = {
    # Monday to Friday, payouts on a NAV day, on a Sunday, two on one day, one with its own ex-NAV.
    "equity": {
        "payouts": [
            {"ex_date": "2020-06-26", "payout_per_unit": "4.25"},
            {"ex_date": "2021-06-27", "payout_per_unit": "3.1"},
            {"ex_date": "2022-06-24", "payout_per_unit": "2"},
            {"ex_date": "2022-06-24", "payout_per_unit": "1.5"},
            {"ex_date": "2023-06-23", "payout_per_unit": "5", "ex_nav": "98.7654"},
            {"ex_date": "2024-03-15", "payout_per_unit": None},
        ],
    },
    # Money-market: every day of the week, so Saturdays and Sundays are folded.
    "money_market": {
        "payouts": [{"ex_date": f"{y}-{m}-28", "payout_per_unit": "0.8"} for y in (2021, 2022, 2023) for m in ("03", "09")],
    },
    # Begins 30 months before the end, with days of zero and of no NAV.
    "young": {"payouts": []},
}
FUNDS["equity"]["points"] = make_fund(1, "2019-01-07", "2024-07-05", 0.0004, 0.004, range(5), FUNDS["equity"]["payouts"], market=1.1)
FUNDS["money_market"]["points"] = make_fund(
    2, "2020-09-01", "2024-03-31", 0.0003, 0.00004, range(7), FUNDS["money_market"]["payouts"])
FUNDS["young"]["points"] = make_fund(
    3, "2022-01-03", "2024-07-03", -0.0002, 0.008, range(5), unpublished=[(50, "0.0000"), (51, None), (300, "0")],
    market=-0.4)
BENCHMARK = make_fund(4, "2018-12-03", "2024-07-05", 0.0003, 0.001, range(5), decimals=2, market=1)
RISK_FREE = [
    {"date": "2018-06-01", "rate_pct": "6.5"}, {"date": "2019-07-17", "rate_pct": "13.25"},
    {"date": "2020-06-26", "rate_pct": "7"}, {"date": "2022-04-08", "rate_pct": "12.25"},
    {"date": "2023-06-27", "rate_pct": "22"}, {"date": "2024-06-11", "rate_pct": "20.5"},
]

RETURN_CASES = [
    {"fund": "equity", "as_of": "2024-07-05", "short": "absolute", "fiscal_year_start": "07-01"},
    {"fund": "equity", "as_of": "2024-03-03", "short": "absolute", "fiscal_year_start": "04-01"},
    {"fund": "equity", "as_of": "2024-02-29", "short": "annualized_simple", "fiscal_year_start": "07-01"},
    {"fund": "money_market", "as_of": "2024-03-31", "short": "annualized_simple", "fiscal_year_start": "07-01"},
    {"fund": "money_market", "as_of": "2021-12-31", "short": "annualized_simple", "fiscal_year_start": "01-01"},
    {"fund": "young", "as_of": "2024-07-07", "short": "absolute", "fiscal_year_start": "07-01"},
]
SIP_CASES = [
    {"fund": "equity", "dates": [str(d.date()) for d in pd.date_range("2020-01-01", "2024-06-01", freq="MS")],
     "instalment": 5000, "as_of": "2024-07-05"},
    {"fund": "young", "dates": [str(d.date()) for d in pd.date_range("2022-02-01", "2024-01-01", freq="QS")],
     "instalment": 100, "as_of": "2024-06-30"},
]
ANALYTICS_CASES = [
    {"fund": fund, "window": window, "frequency": frequency, "as_of": as_of, "risk_free": rf, "benchmark": True}
    for fund, as_of in (("equity", "2024-06-30"), ("money_market", "2024-03-31"), ("young", "2024-07-05"))
    for window in ("1y", "3y", "5y", "si")
    for frequency in ("daily", "monthly")
    for rf in (False, True)
]


# ---------------------------------------------------------------- adjusted NAV

def nav_series(points):
    nav = pd.Series({pd.Timestamp(p["date"]): float(p["nav"]) if p["nav"] else np.nan for p in points}).sort_index()
    return nav[nav > 0]


def total_return_index(nav, payouts):
    """First NAV × the running product of (NAV + payout valued at the NAV) / NAV before."""
    paid = pd.Series(0.0, index=nav.index)
    for payout in payouts:
        later = nav.index[nav.index >= payout["ex_date"]]
        if payout["payout_per_unit"] is None or len(later) == 0:
            continue
        day = later[0]
        bought = float(payout["payout_per_unit"]) / float(payout.get("ex_nav") or nav[day])
        paid[day] += bought * nav[day]
    growth = (nav + paid) / nav.shift(1)
    growth.iloc[0] = 1
    return nav.iloc[0] * growth.cumprod()


def as_of(series, day):
    """The last entry on or before the day, at most a week old, as (date, value) or None."""
    past = series[:day]
    return None if past.empty or day - past.index[-1] > SLACK else (past.index[-1], past.iloc[-1])


# ---------------------------------------------------------------- returns

def returns(case):
    fund = FUNDS[case["fund"]]
    nav = nav_series(fund["points"])
    index = total_return_index(nav, fund["payouts"])
    to, last = as_of(index, pd.Timestamp(case["as_of"]))
    year_start = pd.Timestamp(f"{to.year}-{case['fiscal_year_start']}")
    if year_start > to:
        year_start -= pd.DateOffset(years=1)
    targets = {
        "1d": to - DAY, "7d": to - 7 * DAY, "15d": to - 15 * DAY,
        **{f"{n}m": to - pd.DateOffset(months=n) for n in (1, 3, 6)},
        **{f"{n}y": to - pd.DateOffset(years=n) for n in (1, 2, 3, 5, 10)},
        "mtd": to - pd.offsets.MonthEnd(1) if not to.is_month_end else to.replace(day=1) - DAY,
        "ytd": pd.Timestamp(to.year - 1, 12, 31), "fytd": year_start - DAY, "since_inception": index.index[0],
    }
    answer = {}
    for period, target in targets.items():
        start = as_of(index, target)
        basis = "annualized_compound" if target <= to - pd.DateOffset(years=1) else case["short"]
        if start is None:
            answer[period] = {"from": None, "days": None, "value_pct": None, "basis": basis}
            continue
        days = (to - start[0]).days
        gain = (last - start[1]) / start[1]
        value = {"absolute": gain, "annualized_simple": gain / days * 365,
                 "annualized_compound": np.exp(np.log1p(gain) * 365 / days) - 1}[basis]
        answer[period] = {"from": str(start[0].date()), "days": days, "value_pct": value * 100, "basis": basis}
    return answer


def sip(case):
    fund = FUNDS[case["fund"]]
    index = total_return_index(nav_series(fund["points"]), fund["payouts"])
    bought = [index.index[index.index >= d][0] for d in case["dates"]]
    to, last = as_of(index, pd.Timestamp(case["as_of"]))
    units = sum(case["instalment"] / index[day] for day in bought)
    days = np.array([(d - bought[0]).days for d in [*bought, to]]) / 365
    amounts = np.array([*[-case["instalment"]] * len(bought), units * last], dtype=float)
    rate = 0.1
    for _ in range(100):
        value = np.sum(amounts * (1 + rate) ** -days)
        slope = np.sum(-days * amounts * (1 + rate) ** (-days - 1))
        rate -= value / slope
    return {"final_value": units * last, "value_pct": rate * 100}


# ---------------------------------------------------------------- analytics

def month_ends(index, first, day):
    """The last value of each month over by the day, from the month of `first` on; None where a month's is a week old."""
    monthly = index[:day].groupby(index[:day].index.to_period("M"))
    last_value, last_date = monthly.last(), monthly.apply(lambda part: part.index[-1])
    end = day.to_period("M") if day.is_month_end else day.to_period("M") - 1
    months = pd.period_range(pd.Timestamp(first).to_period("M"), end, freq="M")
    if not set(months) <= set(last_value.index):
        return None
    ages = [m.end_time.normalize() - last_date[m] for m in months]
    return None if any(age > SLACK for age in ages) else pd.Series(
        last_value[months].values, index=pd.DatetimeIndex(last_date[months].values))


def window_of(index, case):
    day = pd.Timestamp(case["as_of"])
    end = as_of(index, day)
    if case["frequency"] == "monthly":
        last_end = day if day.is_month_end else day - pd.offsets.MonthEnd(1)
        first = index.index[0] if case["window"] == "si" else last_end - pd.DateOffset(years=int(case["window"][0]))
        return month_ends(index, first, day)
    start = (index.index[0], index.iloc[0]) if case["window"] == "si" else as_of(
        index, end[0] - pd.DateOffset(years=int(case["window"][0])))
    if start is None:
        return None
    part = index[start[0]:end[0]]
    years = (end[0] - start[0]).days / 365
    if (len(part) - 1) / years > 275:
        inner = part.iloc[1:-1]
        part = pd.concat([part.iloc[:1], inner[inner.index.dayofweek < 5], part.iloc[-1:]])
    return part


def excess_of(r, starts, case):
    if not case["risk_free"]:
        return r.values
    rates = pd.Series({pd.Timestamp(p["date"]): float(p["rate_pct"]) for p in RISK_FREE})
    yearly = np.array([rates.asof(s) for s in starts]) / 100
    return r.values - np.expm1(np.log1p(yearly) / (252 if case["frequency"] == "daily" else 12))


def annual(r, p):
    return np.exp(np.log1p(r).sum() * p / len(r)) - 1


def analytics(case):
    fund = FUNDS[case["fund"]]
    index = total_return_index(nav_series(fund["points"]), fund["payouts"])
    p = 252 if case["frequency"] == "daily" else 12
    part = window_of(index, case)
    if part is None or len(part) - 1 < 24:
        return {"n_obs": 0 if part is None else len(part) - 1, "volatility_pct": None}
    r = part.pct_change().dropna()
    e = excess_of(r, part.index[:-1], case)
    days = (part.index[-1] - part.index[0]).days
    yearly = np.exp(np.log(part.iloc[-1] / part.iloc[0]) * 365 / days) - 1
    falls = part / part.cummax() - 1
    months = month_ends(index, part.index[0], pd.Timestamp(case["as_of"])).pct_change().dropna()
    answer = {
        "from": str(part.index[0].date()), "to": str(part.index[-1].date()), "n_obs": len(r),
        "return_annualized_pct": yearly * 100,
        "volatility_pct": r.std() * np.sqrt(p) * 100,
        "sharpe": e.mean() / e.std(ddof=1) * np.sqrt(p),
        "sortino": e.mean() * p / (np.sqrt((np.clip(e, None, 0) ** 2).mean()) * np.sqrt(p)) if e.min() < 0 else None,
        "max_drawdown_pct": falls.min() * 100,
        "max_drawdown": drawdown_dates(part, falls),
        "calmar": yearly / abs(falls.min()) if falls.min() < 0 else None,
        "var_95_pct": np.percentile(r, 5) * 100,
        "best_month": str(months.idxmax().to_period("M")), "best_month_pct": months.max() * 100,
        "worst_month": str(months.idxmin().to_period("M")), "worst_month_pct": months.min() * 100,
        "positive_months_pct": (months > 0).mean() * 100,
    }
    return {**answer, **against_benchmark(part, case, p)}


def drawdown_dates(part, falls):
    if falls.min() == 0:
        return {"peak_date": None, "trough_date": None, "recovery_date": None}
    trough = falls.idxmin()
    peak = part[:trough][part[:trough] == part[:trough].max()].index[-1]
    recovered = part[trough:][part[trough:] >= part[peak]]
    return {"peak_date": str(peak.date()), "trough_date": str(trough.date()),
            "recovery_date": str(recovered.index[0].date()) if len(recovered) else None}


def against_benchmark(part, case, p):
    level = nav_series(BENCHMARK)
    if case["frequency"] == "daily":
        both = pd.concat([part, level], axis=1, join="inner", keys=["fund", "benchmark"])
        starts = both.index[:-1]
    else:
        other = month_ends(level, part.index[0], pd.Timestamp(case["as_of"]))
        both = pd.DataFrame({"fund": part.values, "benchmark": other.values})
        starts = part.index[:-1]
    r = both.pct_change().dropna()
    fund, bench = excess_of(r["fund"], starts, case), excess_of(r["benchmark"], starts, case)
    slope, intercept = np.polyfit(bench, fund, 1)
    active = r["fund"] - r["benchmark"]
    up, down = r[r["benchmark"] > 0], r[r["benchmark"] < 0]
    rho = np.corrcoef(fund, bench)[0, 1]
    return {
        "benchmark_n_obs": len(r),
        "alpha_pct": ((1 + intercept) ** p - 1) * 100, "beta": slope, "correlation": rho, "r_squared": rho ** 2,
        "tracking_error_pct": active.std() * np.sqrt(p) * 100,
        "information_ratio": active.mean() * p / (active.std() * np.sqrt(p)),
        "treynor": fund.mean() * p / slope,
        "up_capture_pct": annual(up["fund"], p) / annual(up["benchmark"], p) * 100,
        "down_capture_pct": annual(down["fund"], p) / annual(down["benchmark"], p) * 100,
    }


def compact(points):
    """Two parallel lists: half the size of a list of pairs."""
    return {"dates": [p["date"] for p in points], "navs": [p["nav"] for p in points]}


def main():
    answer = {
        "funds": {name: {
            **compact(fund["points"]), "payouts": fund["payouts"],
            "adjusted": total_return_index(nav_series(fund["points"]), fund["payouts"]).iloc[::50].to_list(),
        } for name, fund in FUNDS.items()},
        "benchmark": compact(BENCHMARK), "risk_free": RISK_FREE,
        "returns": [{**case, "expected": returns(case)} for case in RETURN_CASES],
        "sips": [{**case, "expected": sip(case)} for case in SIP_CASES],
        "analytics": [{**case, "expected": analytics(case)} for case in ANALYTICS_CASES],
    }
    Path(__file__).with_name("expected.json").write_text(json.dumps(answer, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
