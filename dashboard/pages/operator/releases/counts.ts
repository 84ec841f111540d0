// The changes that a release made or, before that, those that its dry run found.
import type { Row } from '../../../api/rows.ts';

export interface Counts {
  points_new: number;
  points_revised: number;
  points_unchanged: number;
  points_deleted: number;
}

type OfRelease = Pick<Row<'/v1/operator/releases'>, 'state' | 'checked' | 'outcome'>;

/** Undefined: unknown, for a release that was checked by an earlier version. */
export function countsOf({ state, checked, outcome }: OfRelease): Counts | undefined {
  const report = state === 'released' && outcome !== null ? outcome : checked;
  const {
    points_new: added,
    points_revised: revised,
    points_unchanged: unchanged,
    points_deleted: deleted,
  } = report;
  if (
    typeof added !== 'number' ||
    typeof revised !== 'number' ||
    typeof unchanged !== 'number' ||
    typeof deleted !== 'number'
  )
    return undefined;
  return {
    points_new: added,
    points_revised: revised,
    points_unchanged: unchanged,
    points_deleted: deleted,
  };
}

/** Why a release failed; null: it has not. */
export function failureOf({ state, outcome }: OfRelease): string | null {
  if (state !== 'failed') return null;
  const message = outcome?.['message'];
  return typeof message === 'string' ? message : 'No reason is recorded.';
}
