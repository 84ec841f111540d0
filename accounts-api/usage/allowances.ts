// The monthly allowance of each plan, as statement parameters. Separate from the endpoints, so that the worker does not load the web server.
import type { Plans } from '../../kernel/plans.ts';

/** `calls_month` null: unlimited. */
export interface Allowance {
  id: string;
  calls_month: number | null;
}

export function allowancesOf({ all }: Plans): Allowance[] {
  return all.map(({ id, calls_month }) => ({ id, calls_month }));
}
