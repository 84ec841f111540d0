// What each plan allows in a month, as statements take it. Apart from the endpoints, so that the worker loads no web server for it.
import type { Plans } from '../../kernel/plans.ts';

/** `calls_month` null: unlimited. */
export interface Allowance {
  id: string;
  calls_month: number | null;
}

export function allowancesOf({ all }: Plans): Allowance[] {
  return all.map(({ id, calls_month }) => ({ id, calls_month }));
}
