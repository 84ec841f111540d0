// /v1/operator/series: the metadata of series ("facts"), also those that are missing. They are set for many series at once, with the same
// rules and records as `almanac series set`.
import { z } from 'zod';
import type { Column } from '../cells/cells.ts';
import { interruptionsToJson } from '../load/lock/give-way-to-release.ts';
import { listFacts, type ListedFacts } from '../history/series/facts-list.sql.ts';
import { readFactsRequest } from '../history/series/facts-request.ts';
import { FactsRefused, setManyFacts, type ManyFactsChange } from '../history/series/set-many.ts';
import { factColumns } from '../datasets/metadata.ts';
import { fixedFacts } from '../history/series/set.ts';
import { actingFor } from '../publisher/child-process/act-as.sql.ts';
import { refuseWaiting } from '../publisher/releases/refuse-waiting.ts';
import { listParams } from '../../kernel/http/list.ts';
import { page } from '../../kernel/http/pages.ts';
import { someOfParam } from '../../kernel/http/params.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { changeFields, printable } from './change-fields.ts';
import { endpoint } from './endpoint.ts';
import { count, interruptionsSchema } from '../load/load-report.ts';
import { refusing } from './uploads.ts';

const seriesMax = 200;

const ofText = z.string();
/** A fact as answers have it. */
function factSchema({ type, required, meaning }: Column): z.ZodType {
  const of = type === 'integer' ? z.int() : type === 'list' ? z.array(ofText) : ofText;
  return (required || type === 'list' ? of : of.nullable()).describe(
    `${meaning[0]?.toUpperCase()}${meaning.slice(1)}.`,
  );
}

const rowSchema = z.object({
  id: z.string(),
  ...Object.fromEntries(factColumns.map((column) => [column.name, factSchema(column)])),
  fixed: z
    .array(z.string())
    .describe(
      'Facts that cannot be changed: they are those of its item, or the dates of its observations depend on them.',
    ),
});

const optional = factColumns.filter(({ required }) => !required).map(({ name }) => name);

export const listSeriesFacts = endpoint({
  summary: 'Series with the facts that operators can set; null or an empty list: unknown.',
  requester: 'operator',
  query: {
    q: z.string().optional().describe('A part of the id or of the name.'),
    source: z.string().optional().describe('A part of the source.'),
    missing: someOfParam(optional).optional().describe('Only series that lack at least one of these facts.'),
    ...listParams({ fields: rowSchema.keyof().options, sorts: ['id'], sort: 'id' }),
  },
  rows: rowSchema,
  handler: ({ database, cursors }, { query, call }) => {
    const { q, source, missing } = query;
    const sort = query.sort === 'id' ? 'id' : '-id';
    return page(cursors, {
      query,
      of: ['series-facts', q, source, missing],
      fileName: 'series-facts',
      async read(place, limit) {
        const after = place === null ? null : String(place[0]);
        const found = await call.stage('sql', () =>
          listFacts(database, { q, source, missing, sort, after, limit }),
        );
        return found.map((row) => ({ row: rowOf(row), place: [row.id] }));
      },
    });
  },
});

function rowOf({ isOfItem, isPublished, ...row }: ListedFacts) {
  return { ...row, fixed: fixedFacts({ isOfItem, isPublished }) };
}

const anyValue = z.unknown().describe('As in the list.');
const value = z
  .union([z.string(), z.number(), z.array(z.string().regex(/^[^;]*$/, 'must have no semicolon')), z.null()], {
    error: 'must be a text, a number, a list of texts or null',
  })
  .describe('As in the list; null deletes the fact.');

export const setSeriesFacts = endpoint({
  summary: 'Sets facts of many series, of all or of none.',
  description: `At most ${seriesMax} series, changed in one load. A dry run returns what would change, or the faults of all series. 503 while another load is running. A due release interrupts the change, which restarts after the release.`,
  requester: 'operator',
  body: z.strictObject({
    series: z
      .array(
        z.strictObject({
          id: z
            .string({ error: 'must be the id of a series' })
            .refine(...printable)
            .describe('The present id, exact case.'),
          facts: z
            .record(z.string(), value, { error: 'must have facts with their values' })
            .describe('Facts that are not named are unchanged.'),
          before: z
            .record(z.string(), anyValue)
            .optional()
            .describe(
              'Facts with the values that they must have until the change, as `from` of a dry run. If one has another, it is 409.',
            ),
        }),
        { error: 'must be a list of series' },
      )
      .min(1, 'must have at least one series')
      .max(seriesMax, `must have at most ${seriesMax} series`),
    ...changeFields,
  }),
  answers: {
    200: z.object({
      dry_run: z.boolean(),
      load: z.int().optional().describe('The number of the load; absent in a dry run.'),
      series_changed: count,
      series_unchanged: count.describe('Series that already have these facts.'),
      series: z
        .array(
          z.object({
            id: z.string(),
            changes: z.array(z.object({ fact: z.string(), from: anyValue, to: anyValue })),
          }),
        )
        .describe('The series that change, in the order of the request.'),
      faults: z
        .array(
          z.object({
            id: z.string(),
            fact: z.string().nullable().describe('Null: the fault is not in a single value.'),
            reason: z.string(),
          }),
        )
        .describe('In a dry run, why nothing could be changed, in the order of the request.'),
      interruptions: interruptionsSchema,
    }),
  },
  errors: ['conflict', 'unavailable'],
  handler: async (deps, { requester, body, call }) => {
    const { seriesTimeZone, clock } = deps;
    const { series, reason, dry_run: dryRun } = body;
    const change = () =>
      setManyFacts(actingFor(deps.database, requester), {
        ...{ ...readFactsRequest(series), dryRun, seriesTimeZone, clock, onWaiting: refuseWaiting },
        ...(reason === undefined ? {} : { reason }),
      });
    const done = call.stage('sql', change).then((changed) => changeReport(changed, dryRun));
    return one(await refusing(() => (dryRun ? done.catch(faultsReport) : done)));
  },
});

function changeReport({ changed, unchanged, loadNo, interruptions }: ManyFactsChange, dryRun: boolean) {
  return {
    dry_run: dryRun,
    ...(dryRun ? {} : { load: loadNo }),
    ...{ series_changed: changed.length, series_unchanged: unchanged, faults: [] },
    series: changed.map(({ series: id, changes }) => ({ id, changes })),
    ...interruptionsToJson(interruptions),
  };
}

/** The report of a dry run that found faults. */
function faultsReport(error: unknown) {
  if (!(error instanceof FactsRefused)) throw error;
  return {
    ...{ dry_run: true, series_changed: 0, series_unchanged: 0, series: [] },
    faults: error.faults.map(({ id, fact, text }) => ({ id, fact, reason: text })),
  };
}
