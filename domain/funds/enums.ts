// The enums of funds, for loads and for parameters. The migration that makes the tables checks the same values.

export const assetClasses = [
  'equity',
  'income',
  'money_market',
  'balanced',
  'asset_allocation',
  'commodity',
  'index',
  'fund_of_funds',
  'capital_protected',
  'real_estate',
  'other',
] as const;

export const fundStructures = ['open_end', 'closed_end', 'vps', 'etf', 'interval'] as const;
export const fundStatuses = ['active', 'suspended', 'matured', 'closed', 'merged'] as const;
/** `inactive`: its source gives no status, and its last NAV is stale. Derived, so loads do not accept it. */
export const shownFundStatuses = [...fundStatuses, 'inactive'] as const;
export const payoutTypes = ['cash', 'bonus', 'reinvest', 'split'] as const;

/** Since the start of the month or of the fiscal year, or the rate on the day. */
export const expensePeriods = ['mtd', 'ytd', 'day'] as const;

/** The kind of a portfolio line. */
export const portfolioSections = ['holding', 'asset_class', 'rating', 'sector', 'summary'] as const;
export const disclosureScopes = ['full', 'top10'] as const;
