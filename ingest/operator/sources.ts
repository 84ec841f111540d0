// /v1/operator/sources: the URLs with a schedule, and the outcome of their last fetch.
import { z } from 'zod';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { sourceReport } from '../publisher/sources/source-report.ts';
import { selectSources } from '../publisher/sources/sources.sql.ts';
import { endpoint } from './endpoint.ts';

const rowSchema = z.object({
  name: z.string(),
  publication: z.string().describe('The name in its almanac.yml.'),
  url: z.string().describe('Without its query, which may hold a token.'),
  sheet: z.string().nullable().describe('The sheet of a workbook; null for other files.'),
  schedule: z.string(),
  registered_at: z.iso.datetime(),
  last_fetch_at: z.iso.datetime().nullable(),
  last_change_at: z.iso.datetime().nullable(),
  next_fetch_at: z.iso.datetime(),
  is_being_fetched: z.boolean(),
  failures: z.int().min(0).describe('In a row.'),
  failing_since: z.iso.datetime().nullable(),
  outcome: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe(
      'The result of the last fetch: `result` is `loaded`, `unchanged` or `failed`, with what was loaded, or why it failed.',
    ),
});

export const listFreshSources = endpoint({
  summary: 'The sources that are fetched by schedule, with their last and next fetch.',
  requester: 'operator',
  query: {
    state: oneOfParam(['failing', 'well'])
      .optional()
      .describe('Only sources whose last fetch has failed, or has not.'),
    ...listParams({
      fields: rowSchema.keyof().options,
      sorts: ['name', 'next_fetch_at', 'failures'],
      sort: 'name',
    }),
  },
  rows: rowSchema,
  handler: async ({ database, cursors }, { query, call }) => {
    const { state, sort } = query;
    const all = (await call.stage('sql', () => selectSources(database))).map(sourceReport);
    const rows = all.filter(({ failures }) => state === undefined || (state === 'failing') === failures > 0);
    const by = sort.replace(/^-/, '') as 'name' | 'next_fetch_at' | 'failures';
    return page(cursors, {
      query,
      of: ['sources', state],
      fileName: 'sources',
      read: inMemory(rows, sort, (row) => [row[by], row.name]),
    });
  },
});
