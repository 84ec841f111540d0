// GET /v1/updates: every change of data in the order in which it was made, as JSON, lines of JSON or an Atom feed.
import { z } from 'zod';
import { eventKinds, updateTypes } from '../../kernel/events/catalogue.ts';
import { fail } from '../../kernel/errors.ts';
import { isDate } from '../../kernel/dates.ts';
import { limitDefault, limitMax, listJson, listOf } from '../../kernel/http/list.ts';
import { integerParam, oneOfParam, readParam, severalParam } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { catalogWhere } from '../discovery/discovery.sql.ts';
import { isInRelease } from '../discovery/releases.sql.ts';
import { cachedReleases, requireNamed } from '../discovery/releases.ts';
import { endpoint } from '../endpoint.ts';
import type { Conditions } from '../list.sql.ts';
import { searchText } from '../search/search-text.ts';
import { seriesWords } from '../search/series-words.ts';
import { updatesFeed } from './feed.ts';
import { readUpdates, updateShape, type Read } from './updates.sql.ts';

const daysByDefault = 7;
const dayMs = 86_400_000;

const instantParam = readParam((text) => {
  const isInstant = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?Z$/.test(text);
  return (isInstant || text.length === 10) && isDate(text.slice(0, 10)) ? new Date(text) : null;
}, 'must be an instant that exists, such as 2024-03-31T08:30:00Z, or a date').meta({
  override: { type: 'string', examples: ['2024-03-31T08:30:00Z', '2024-03-31'] },
});

const query = {
  since: instantParam
    .optional()
    .describe(
      `The updates from then on; none yet if it is in the future. Without it and \`cursor\`, those of the last ${daysByDefault} days.`,
    ),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the "cursor" of an update')
    .optional()
    .meta({
      description: 'The updates after that one: its `cursor`, or `meta.cursor` of an answer.',
      override: { pattern: undefined },
    }),
  type: severalParam(oneOfParam(updateTypes)).optional().describe('Only updates of these types.'),
  series: severalParam(z.string())
    .optional()
    .meta({ description: 'Only those of these series; an id ends with `*` for all that begin so.' }),
  source: severalParam(z.string()).optional().describe('Only those of series of these exact sources.'),
  release: z.string().optional().describe('Only those of the series of a release: an id of `/v1/releases`.'),
  q: searchText.optional().describe('Only those of series that have these words, as in `/v1/catalog`.'),
  limit: integerParam(1, limitMax)
    .default(limitDefault)
    .meta({ description: 'The most updates of the answer.', override: { default: limitDefault } }),
  format: oneOfParam(['json', 'ndjson', 'atom'])
    .default('json')
    .describe('`ndjson`: a line for each update. `atom`: a feed of the newest, newest first.'),
};
type Query = z.output<z.ZodObject<typeof query>>;

const updateSchema = z.union(
  updateTypes.map((type) =>
    z.object({
      ...updateShape,
      type: z.literal(type),
      data: eventKinds[type].data.describe('As webhooks are sent it.'),
    }),
  ),
);

export const getUpdates = endpoint({
  summary:
    'Every change of data in order: updated, revised, deleted and renamed series, published releases, datasets.',
  query,
  json: listOf(updateSchema, {
    meta: z.object({
      cursor: z.string().describe('Send it as `cursor` for what comes after this answer.'),
      kept_since: z.iso
        .datetime()
        .nullable()
        .describe('The oldest update that is kept; null if no update is kept.'),
    }),
  }),
  caching: 'public',
  errors: ['invalid_cursor', 'not_found', 'gone'],
  handler: async (dependencies, { query: asked, call, url }) => {
    const { cursor, type, limit, format } = asked;
    const now = dependencies.clock.now();
    const isOpen = asked.since === undefined && cursor === undefined;
    if (isOpen) call.changesAt(now.getTime()); // the window moves with the clock
    const since = isOpen ? new Date(now.getTime() - daysByDefault * dayMs) : asked.since;
    const where = await call.stage('lookup', () => narrowedBy(dependencies, asked));
    const found = await call.stage('sql', () =>
      readUpdates(dependencies.database, {
        ...{
          since,
          after: cursor,
          type,
          series: asked.series,
          where,
          limit,
          order: format === 'atom' ? 'newest' : 'oldest',
        },
      }),
    );
    requirePlace(cursor, found);
    return {
      // No identity: the ETag is that of the text.
      format,
      fileName: 'updates',
      read: () => contentOf(found, { format, url, publicUrl: dependencies.publicUrl }),
    };
  },
});

/** The query's conditions on series; none if all match. */
async function narrowedBy(dependencies: Dependencies, { source, release, q }: Query): Promise<Conditions> {
  const { database, vocabulary } = dependencies;
  const words = q === undefined ? undefined : await seriesWords(database, vocabulary, q);
  const found = release && requireNamed((await cachedReleases(dependencies)).value, release, 'release');
  return catalogWhere({ words, source }).and(found && [found.source, found.name], isInRelease);
}

/** @throws Failure `gone` if the update of the cursor is no longer stored; `invalid_cursor` if it never existed. */
function requirePlace(cursor: string | undefined, { oldest, newest, hasPlace }: Read): void {
  if (cursor === undefined || cursor === '0' || hasPlace) return;
  const isBefore = oldest !== null && Number(cursor) < Number(oldest.cursor);
  if (isBefore)
    fail(
      'gone',
      `The updates after cursor ${cursor} are no longer complete: the oldest stored one is of ${oldest.at}. Read the series that you follow again, and continue from cursor ${newest}.`,
      { param: 'cursor' },
    );
  fail('invalid_cursor', `No update has the cursor ${cursor}; the newest is ${newest}.`, { param: 'cursor' });
}

function contentOf(
  found: Read,
  { format, url, publicUrl }: { format: Query['format']; url: string; publicUrl: string },
) {
  const { updates, cursor, hasMore, oldest } = found;
  if (format === 'atom') return { text: updatesFeed(updates, { url, publicUrl }) };
  const nextCursor = hasMore ? cursor : null;
  if (format === 'ndjson')
    return { text: updates.map((update) => `${JSON.stringify(update)}\n`).join(''), nextCursor };
  const meta = { cursor, kept_since: oldest?.at ?? null };
  return { text: listJson(updates, nextCursor, { meta }), nextCursor };
}
