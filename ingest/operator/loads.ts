// /v1/operator/loads: the record of loads, and their retraction, with the same rules and records as `almanac loads`.
import { z } from 'zod';
import { dateIn } from '../../kernel/clock.ts';
import { entryOf, memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { page } from '../../kernel/http/pages.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { actingFor } from '../publisher/child-process/act-as.sql.ts';
import { count, interruptionsSchema, pointCountsSchema } from '../load/load-report.ts';
import { listLoads, seriesOfLoad, statusOf, type LoadEntry } from '../history/retract/load-list.sql.ts';
import type { RetractableLoad } from '../history/retract/retract.sql.ts';
import { findLoads, unretractableBecause } from '../history/retract/retractable.ts';
import { retract, retractionReport } from '../history/retract/retract.ts';
import { changeFields } from './change-fields.ts';
import { endpoint, numberOf, type OperatorDeps } from './endpoint.ts';
import { refuseWaiting } from '../publisher/releases/refuse-waiting.ts';

const rowSchema = z.object({
  load: z.int(),
  loaded_at: z.iso.datetime(),
  dataset: z.string(),
  source_name: z
    .string()
    .describe('The name of the file; of a retraction, that of the load that it retracts.'),
  vintage: z.iso.date(),
  complete: z.boolean().describe('The file was complete: points that it left out were deleted.'),
  kind: z.enum(['load', 'retraction']),
  retracts: z.int().nullable().describe('For a retraction: the load that it retracts.'),
  erases: z.boolean().describe('For a retraction: whether it also erased the load from the history.'),
  reason: z.string().nullable(),
  status: z.enum(['in_force', 'retracted', 'erased']),
  retracted_by: z
    .int()
    .nullable()
    .describe('The load that retracted or erased it; of a retraction: the next one.'),
  retractable: z.boolean().describe('Whether it can be retracted.'),
  not_retractable_because: z.string().nullable().describe('Why it cannot; null where it can.'),
  erasable: z.boolean().describe('Whether it can be erased from the history.'),
  part_of: z.int().nullable().describe('The first load of the same file, if the file has several vintages.'),
  by: z
    .string()
    .nullable()
    .describe(
      'The role of the database, its address and program, and the account of an operator; null: a version before this one loaded it.',
    ),
  rows_read: count,
  rows_rejected: count,
  ...pointCountsSchema,
});

const seriesNamedMax = 20;
const loadSchema = rowSchema.extend({
  series_count: count.describe('How many series it changed, or contained completely.'),
  series: z.array(z.string()).max(seriesNamedMax).describe('The ids of the first twenty of them.'),
});

const params = { load: z.string().describe('A number of `/v1/operator/loads`.') };

export const listAllLoads = endpoint({
  summary: 'The record of loads, the newest first.',
  requester: 'operator',
  query: {
    dataset: z.string().optional().describe('Only loads of that dataset.'),
    kind: oneOfParam(['load', 'retraction']).optional().describe('Only files, or only retractions.'),
    status: oneOfParam(['in_force', 'retracted', 'erased'])
      .optional()
      .describe('Only loads in this state: in force, retracted or erased.'),
    ...listParams({ fields: rowSchema.keyof().options, sorts: ['load'], sort: '-load' }),
  },
  rows: rowSchema,
  handler: (deps, { query, call }) => {
    const { database, cursors } = deps;
    const { dataset, kind, status, sort } = query;
    const wish = {
      ...(dataset === undefined ? {} : { dataset }),
      ...(kind === undefined ? {} : { kind }),
      ...(status === undefined ? {} : { status }),
    };
    return page(cursors, {
      query,
      of: ['loads', dataset, kind, status],
      fileName: 'loads',
      async read(place, limit) {
        const last = place === null ? undefined : Number(place[0]);
        const from = sort === 'load' ? { after: last ?? 0 } : last === undefined ? {} : { before: last };
        const found = await call.stage('sql', () => listLoads(database, { ...wish, ...from, limit }));
        const rows = await call.stage('sql', () => rowsOf(deps, found));
        return rows.map((row) => ({ row, place: [row.load] }));
      },
    });
  },
});

export const readLoad = endpoint({
  summary: 'A load, and the series that it changed.',
  requester: 'operator',
  params,
  answers: { 200: loadSchema },
  handler: async (deps, { params: given, call }) => {
    const { database } = deps;
    const loadNo = numberOf(memberOf(given, 'load'), 'load');
    const found = await call.stage('sql', () => listLoads(database, { loadNo, limit: 1 }));
    const [row] = await call.stage('sql', () => rowsOf(deps, found));
    if (row === undefined) fail('not_found', `There is no load ${loadNo}.`);
    const { count: seriesCount, series } = await call.stage('sql', () =>
      seriesOfLoad(database, loadNo, seriesNamedMax),
    );
    return one({ ...row, series_count: seriesCount, series });
  },
});

export const retractLoad = endpoint({
  summary: 'Retracts a load: from today on, or in all vintages.',
  description:
    'A retraction is a load itself. When the response arrives, all running services serve the changed data. 503 while another load is running. A due release interrupts the retraction, which restarts after the release.',
  requester: 'operator',
  params,
  body: z.strictObject({
    erase: z
      .boolean({ error: 'must be true or false' })
      .default(false)
      .describe('All vintages; it cannot be undone.'),
    ...changeFields,
  }),
  answers: {
    200: z.object({
      dry_run: z.boolean(),
      load: z.int().optional().describe('The number of the retraction; absent in a dry run.'),
      loads: z.array(z.int()).describe('The loads of the file, which are retracted together.'),
      effect: z.enum(['out_of_force', 'in_force', 'erased']),
      since: z.iso.date().describe('The first day from which the data are changed.'),
      ...pointCountsSchema,
      interruptions: interruptionsSchema,
    }),
  },
  errors: ['conflict', 'unavailable'],
  handler: async (deps, { requester, params: given, body, call }) => {
    const loadNo = numberOf(memberOf(given, 'load'), 'load');
    const { seriesTimeZone, fiscalYearFirstMonth, clock } = deps;
    const { erase, reason, dry_run: dryRun } = body;
    const result = await call.stage('sql', () =>
      retract(actingFor(deps.database, requester), {
        ...{ loadNo, erase, dryRun, seriesTimeZone, fiscalYearFirstMonth, clock },
        ...(reason === undefined ? {} : { reason }),
        onWaiting: refuseWaiting,
      }),
    );
    return one(retractionReport(result, dryRun));
  },
});

/** @returns the loads as JSON, in the same order. */
async function rowsOf(
  { database, clock, seriesTimeZone }: OperatorDeps,
  entries: readonly LoadEntry[],
): Promise<z.output<typeof rowSchema>[]> {
  const loads = await findLoads(
    database,
    entries.map(({ load_no: loadNo }) => loadNo),
  );
  const today = dateIn(seriesTimeZone, clock.now());
  return entries.map((entry) => rowOf(entry, entryOf(loads, entry.load_no), today));
}

function rowOf(entry: LoadEntry, retractable: RetractableLoad, today: string): z.output<typeof rowSchema> {
  const { load_no: load, is_erased: _, loaded_by: by, retracts, ...rest } = entry;
  const because = unretractableBecause(retractable, { erase: false, today });
  return {
    ...rest,
    ...{ load, by, retracts },
    kind: retracts === null ? 'load' : 'retraction',
    status: statusOf(entry),
    retractable: because === null,
    not_retractable_because: because,
    erasable: unretractableBecause(retractable, { erase: true, today }) === null,
  };
}
