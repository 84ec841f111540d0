// The API call of a view: the query of its points, whose window is written in periods, such as `2020-Q3`.
import type { Aggregate, TargetFrequency } from '../../../domain/aggregates.ts';

/** The API request of a view. */
export interface ViewQuery {
  from?: string;
  to?: string;
  /** In the API's format: `side:buy|sell,city:Lahore`. */
  dims?: string;
  frequency?: TargetFrequency;
  aggregate?: Aggregate;
  transform?: string;
  base?: string;
  vintage?: string;
}

/** The query as parameters of a URL. */
export function paramsOf(query: ViewQuery): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]: [string, string | undefined]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** The period that ends on the date, as the API writes it: `2020-11`, `2020-Q3`, or the day. */
export function periodParam(date: string, frequency: string): string {
  const [year = '', month = ''] = date.split('-');
  if (frequency === 'monthly') return `${year}-${month}`;
  if (frequency === 'quarterly') return `${year}-Q${Math.ceil(Number(month) / 3)}`;
  if (frequency === 'semiannual') return `${year}-H${Math.ceil(Number(month) / 6)}`;
  return date;
}
