// /v1/operator/releases: the loads under embargo, and the operators' actions on them, with the same rules and records as `almanac
// releases`.
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { memberOf } from '../../kernel/entries.ts';
import { Failure, fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { selectHistory, selectReleases, type Release } from '../publisher/releases/embargo.sql.ts';
import { cancelRelease, makeDueNow, WrongRelease } from '../publisher/releases/release-actions.ts';
import { historyReport, releaseReport } from '../publisher/releases/release-report.ts';
import { actingFor } from '../publisher/child-process/act-as.sql.ts';
import { endpoint, numberOf, type OperatorDeps } from './endpoint.ts';

const states = ['pending', 'held', 'released', 'failed', 'cancelled'] as const;
const report = z.record(z.string(), z.unknown());

const releaseSchema = z.object({
  release: z.int(),
  state: z.enum(states),
  held_because: z.string().nullable().describe('Why the calendar gives it no instant.'),
  release_at: z.iso.datetime().nullable().describe('When it is due or was; null while it is held.'),
  release_with: z.string().nullable().describe('The entry of the calendar that it follows.'),
  dataset: z.string(),
  source_name: z.string(),
  options: report.describe('The dataset of the load.'),
  lead_seconds: z.number().describe('How long before its instant the load begins.'),
  file_bytes: z.int(),
  file_sha256: z.string(),
  checked: report.describe('The report of the check, as of `almanac ingest --dry-run --json`.'),
  accepted_at: z.iso.datetime(),
  ended_at: z.iso.datetime().nullable(),
  late_seconds: z.number(),
  outcome: report.nullable().describe('What was loaded, or why it failed.'),
});

const withHistorySchema = releaseSchema.extend({
  history: z.array(
    z.object({
      at: z.iso.datetime(),
      event: z.enum(['accepted', 'hastened', 'cancelled', 'released', 'failed']),
      actor: z
        .string()
        .describe('The role of the database, its address and program, and the account of an operator.'),
      detail: z.string().nullable(),
    }),
  ),
});

/** As in the command's list, with the instants in whole seconds like all of the API. */
function rowOf(release: Release): z.output<typeof releaseSchema> {
  const { at, createdAt, endedAt } = release;
  return {
    ...releaseReport(release),
    options: report.parse(release.options),
    release_at: at && instantText(at),
    accepted_at: instantText(createdAt),
    ended_at: endedAt && instantText(endedAt),
  };
}

const params = { release: z.string().describe('A number of `/v1/operator/releases`.') };

export const listReleases = endpoint({
  summary: 'The releases under embargo, and the newest hundred that were made or cancelled.',
  requester: 'operator',
  query: {
    state: oneOfParam(states).optional().describe('Only releases in that state.'),
    ...listParams({ fields: releaseSchema.keyof().options, sorts: ['release'], sort: '-release' }),
  },
  rows: releaseSchema,
  handler: async ({ database, cursors }, { query, call }) => {
    const { state, sort } = query;
    const all = (await call.stage('sql', () => selectReleases(database))).map(rowOf);
    const rows = all.filter((row) => state === undefined || row.state === state);
    return page(cursors, {
      query,
      of: ['releases', state],
      fileName: 'releases',
      read: inMemory(rows, sort, ({ release }) => [release]),
    });
  },
});

export const readRelease = endpoint({
  summary: 'A release under embargo: its check, its outcome, and who did what with it.',
  requester: 'operator',
  params,
  answers: { 200: withHistorySchema },
  handler: async ({ database }, { params: given, call }) => {
    const release = await call.stage('sql', () => requireRelease(database, given));
    const history = await call.stage('sql', () => selectHistory(database, release.releaseNo));
    return one({
      ...rowOf(release),
      history: history.map((entry) => ({ ...historyReport(entry), at: instantText(entry.at) })),
    });
  },
});

export const cancelOneRelease = endpoint({
  summary: 'Cancels a release: it is never published, and its file is deleted.',
  requester: 'operator',
  params,
  answers: { 200: releaseSchema },
  errors: ['conflict'],
  handler: async (deps, { requester, params: given, call }) =>
    one(await call.stage('sql', () => change(deps, requester, given, cancelRelease))),
});

export const publishRelease = endpoint({
  summary: 'Makes a release due now, also one that is held or has failed.',
  description:
    'The publisher makes it within about a second: ask for the release until it is `released` or `failed`.',
  requester: 'operator',
  params,
  answers: { 202: releaseSchema },
  errors: ['conflict'],
  handler: async (deps, { requester, params: given, call }) =>
    one(await call.stage('sql', () => change(deps, requester, given, makeDueNow)), { status: 202 }),
});

/** @throws Failure `not_found`. */
async function requireRelease(database: Database, given: Readonly<Record<string, string>>): Promise<Release> {
  const releaseNo = numberOf(memberOf(given, 'release'), 'release');
  const [release] = await selectReleases(database, releaseNo);
  return release ?? fail('not_found', `There is no release ${releaseNo}.`);
}

async function change(
  { database, releaseClock }: OperatorDeps,
  accountId: string,
  given: Readonly<Record<string, string>>,
  act: typeof cancelRelease,
) {
  const { releaseNo } = await requireRelease(database, given);
  try {
    return rowOf(await act(actingFor(database, accountId), releaseNo, releaseClock));
  } catch (error) {
    if (error instanceof WrongRelease) throw new Failure('conflict', error.message);
    throw error;
  }
}
