// The changes that a release made or, before that, those that its dry run found.
import type { Row } from '../../api/rows.ts';

const names = ['points_new', 'points_revised', 'points_unchanged', 'points_deleted'] as const;
export type Counts = Record<(typeof names)[number], number>;

type OfRelease = Pick<Row<'/v1/operator/releases'>, 'state' | 'checked' | 'outcome'>;

/** Undefined: unknown, for a release that was checked by an earlier version. */
export function countsOf({ state, checked, outcome }: OfRelease): Counts | undefined {
  const report = state === 'released' && outcome !== null ? outcome : checked;
  const counts = names.map((name) => [name, report[name]] as const);
  return counts.every(([, count]) => typeof count === 'number')
    ? (Object.fromEntries(counts) as Counts)
    : undefined;
}

/** Why a release failed; null: it has not. */
export function failureOf({ state, outcome }: OfRelease): string | null {
  if (state !== 'failed') return null;
  const message = outcome?.['message'];
  return typeof message === 'string' ? message : 'No reason is recorded.';
}
