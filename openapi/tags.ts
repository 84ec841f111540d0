// The tags of the endpoints in the document, by the first segment after /v1.

export const tags = [
  { name: 'Series', description: 'Time series: points, newest points, vintages.' },
  { name: 'Commodities', description: 'Prices of goods by city.' },
  { name: 'Funds', description: 'Funds and their managers: NAVs, returns, risk, portfolios.' },
  { name: 'Markets', description: 'Debt securities, auctions, external trade.' },
  { name: 'Bulk', description: 'Files of all points, as Parquet.' },
  { name: 'Discovery', description: 'Catalogue, search, releases, sources, status.' },
  { name: 'FRED', description: 'The same data in the form of FRED, for its clients.' },
  { name: 'Account', description: 'The account, its API keys and its usage.' },
  {
    name: 'Webhooks',
    description: 'The endpoints of an account, and the messages to them: what has changed.',
  },
  { name: 'Billing', description: 'Buying a plan, and the billing portal.' },
  {
    name: 'Operator',
    description: 'All accounts, loads and releases of the installation, for its operators.',
  },
  { name: 'Sign-in', description: 'Sign-up, sessions, passwords, Google.' },
  { name: 'Service', description: 'The service itself.' },
] as const;

const byGroup: Readonly<Record<string, (typeof tags)[number]['name']>> = {
  series: 'Series',
  commodities: 'Commodities',
  funds: 'Funds',
  amcs: 'Funds',
  securities: 'Markets',
  'fixed-income': 'Markets',
  trade: 'Markets',
  bulk: 'Bulk',
  catalog: 'Discovery',
  previews: 'Discovery',
  search: 'Discovery',
  calendar: 'Discovery',
  releases: 'Discovery',
  sources: 'Discovery',
  status: 'Discovery',
  fred: 'FRED',
  graph: 'FRED',
  plans: 'Account',
  account: 'Account',
  keys: 'Account',
  usage: 'Account',
  webhooks: 'Webhooks',
  checkout: 'Billing',
  billing: 'Billing',
  operator: 'Operator',
  auth: 'Sign-in',
};

/** The tag of a path. */
export function tagOf(path: string): (typeof tags)[number]['name'] {
  return byGroup[path.split('/')[path.startsWith('/v1/') ? 2 : 1] ?? ''] ?? 'Service';
}
