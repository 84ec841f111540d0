// The entries that detection proposes for tables in tests.
import { propose } from '../../ingest/detect/propose.ts';
import { withoutCrosstab } from '../../ingest/detect/table/find-crosstab.ts';
import type { Sample } from '../../ingest/read/table-rows.ts';

/** A file whose name and folder are uninformative. */
export const about = {
  ...{ stem: 'table', dateInName: null, sheet: undefined },
  ...{ folder: 'folder', facts: {}, today: '2026-11-23' },
};

/** A whole file with these rows. */
export const sampleOf = (rows: string[][]): Sample => ({
  ...{ rows, lines: rows.map((_, at) => at + 1), isWhole: true },
  ...{ continued: new Set(), delimiter: ',' },
});

export const proposed = (rows: string[][]) => propose(withoutCrosstab(sampleOf(rows)), about);
