// /v1/operator/uploads/{id}/check and /publication: the changes that a table of an upload would make, and its publication, now or under
// embargo. A child process does the work. A due release interrupts it: a publication restarts afterwards, a check is refused.
import { z } from 'zod';
import { dateIn } from '../../kernel/clock.ts';
import { refuseField } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { metadataNames } from '../datasets/metadata.ts';
import { shellWord } from '../datasets/shell-word.ts';
import { anInstant, instantOf, type Due } from '../publisher/releases/accept.ts';
import { parseEntry } from '../entry/entry-file.ts';
import { changeOf, changedText, type Choice } from '../entry/resolve-guesses.ts';
import { columnFactKey, entryOf } from '../publisher/uploads/upload-entry.ts';
import { checkedTableSchema, publishedTableSchema } from '../publisher/uploads/published-table.ts';
import type { TableToPublish } from '../publisher/uploads/publish-table.ts';
import type { Upload } from '../publisher/uploads/uploads.sql.ts';
import { printable } from './change-fields.ts';
import { endpoint, type OperatorDeps } from './endpoint.ts';
import { uploadOf, type uploadSchema } from './uploads-schema.ts';
import { refusing, requireUpload } from './uploads.ts';

const commandSchema = z
  .string()
  .describe(
    'The command that does the same in the folder of the file. An edited entry and facts of single columns are written in its almanac.yml.',
  );

const checkSchema = checkedTableSchema.extend({
  entry: z.string().describe('The entry that was checked, as YAML: with what was picked by `choose`.'),
  command: commandSchema,
});

const publicationSchema = publishedTableSchema.extend({
  command: commandSchema.nullable().describe('Null for an embargo: `almanac publish` has none.'),
});

const text = (most: number) =>
  z
    .string({ error: 'must be a text' })
    .trim()
    .min(1, 'must not be empty')
    .max(most, `must have at most ${most} characters`)
    .refine(...printable);

const wish = {
  table: z
    .int({ error: 'must be the number of a table of the upload' })
    .min(0, 'must be the number of a table of the upload'),
  entry: text(60_000).optional().describe('Its entry of almanac.yml, as YAML; left out: as it was found.'),
  set: z
    .record(z.string(), text(10_000))
    .refine(
      (facts) => Object.keys(facts).every((name) => metadataNames.has(name) || columnFactKey.test(name)),
      `must be facts of series: ${[...metadataNames].join(', ')}; or of a column, such as columns.Price.unit`,
    )
    .default({})
    .describe(
      'Facts of its series, such as `unit` and `source`, and the unit or source of one column, such as `columns.Price.unit`; they win over the entry. `name` is the title of the table; what distinguishes its series is appended to it.',
    ),
};

const choose = z
  .record(
    z.string(),
    z
      .int({ error: 'must be the number of an option, from 0' })
      .min(0, 'must be the number of an option, from 0'),
  )
  .default({})
  .describe(
    'Choices of the table, by their keys → the number of the option that is picked, from 0: it changes the entry.',
  );

const params = { id: z.string().describe('An id of `/v1/operator/uploads`.') };
/** Less than the gateway's timeout of a minute. */
const checkWithinMs = 50_000;
/** The gateway has answered 504 long before; the load continues. */
const publishWithinMs = 600_000;

export const checkUpload = endpoint({
  summary: 'Lists what a table of an upload would change, point by point.',
  description:
    'A dry run: nothing is stored. 503 while another load is running, or if a release comes due meanwhile.',
  requester: 'operator',
  params,
  body: z.strictObject({ ...wish, choose }),
  answers: { 200: checkSchema },
  errors: ['conflict', 'unavailable'],
  handler: async (deps, { params: given, body, call }) => {
    const upload = await call.stage('lookup', () => requireUpload(deps, given));
    const { entry, checked } = await call.stage('compute', () =>
      refusing(async () => {
        const picked = pickedEntry(upload, body);
        const task = await taskOf(deps, upload, { ...body, entry: picked });
        const limits = { withinMs: checkWithinMs };
        return { entry: picked, checked: await deps.children.run('check-table', task, limits) };
      }),
    );
    return one({ ...checked, entry, command: commandFor(upload.name, body.set, '--dry-run') });
  },
});

export const publishUpload = endpoint({
  summary: 'Publishes a table of an upload: now, or under embargo until an instant.',
  description:
    'If published now: when the response arrives, all running services serve the new data. 503 while another load is running. A due release interrupts the load, which restarts after the release. An upload whose tables are all published is deleted.',
  requester: 'operator',
  params,
  body: z.strictObject({
    ...wish,
    release_at: text(40)
      .refine((instant) => instantOf(instant) !== undefined, `must be ${anInstant}`)
      .optional()
      .describe('Under embargo until this instant, with its offset: `2026-12-16T10:00:00Z`.'),
    release_with: text(200)
      .optional()
      .describe('Under embargo until the instant of this entry of the calendar.'),
  }),
  answers: { 201: publicationSchema },
  errors: ['conflict', 'unavailable'],
  handler: async (deps, { requester, params: given, body, call }) => {
    const upload = await call.stage('lookup', () => requireUpload(deps, given));
    const due = dueOf(body.release_at, body.release_with);
    const published = await call.stage('compute', () =>
      refusing(async () =>
        deps.children.run(
          'publish-table',
          { ...(await taskOf(deps, upload, body)), due },
          { withinMs: publishWithinMs, accountId: requester },
        ),
      ),
    );
    const command = due === undefined ? commandFor(upload.name, body.set, '--yes') : null;
    return one({ ...published, command }, { status: 201 });
  },
});

function dueOf(instant: string | undefined, calendarId: string | undefined): Due | undefined {
  if (instant !== undefined && calendarId !== undefined)
    refuseField('release_with', 'release_at and release_with exclude each other.');
  if (calendarId !== undefined) return { calendarId };
  return instant === undefined ? undefined : { instant };
}

function tableOf(upload: Upload, table: number): z.output<typeof uploadSchema>['tables'][number] {
  const { tables } = uploadOf(upload);
  return (
    tables[table] ??
    refuseField('table', `${upload.name} has no table ${table}: the last is ${tables.length - 1}.`)
  );
}

/** The entry as found or edited, with the picks. @throws Failure `invalid_body` if there is no such choice or option. */
function pickedEntry(
  upload: Upload,
  {
    table,
    entry,
    choose: picked,
  }: { table: number; entry?: string | undefined; choose: Record<string, number> },
): string {
  const found = tableOf(upload, table);
  const text = entry ?? found.entry;
  const changes = Object.entries(picked).map(([key, option]) => {
    const choice = found.choices.find((each) => each.key === key);
    if (choice === undefined) {
      const keys = found.choices.filter(({ options }) => options.length > 0).map((each) => each.key);
      return refuseField(
        'choose',
        `"choose": table ${table} has no choice ${key.slice(0, 40)}. ${keys.length === 0 ? 'The table has no choices.' : `There are ${keys.join(', ')}.`}`,
      );
    }
    // This service has made the changes of an option.
    return (
      changeOf(choice as Choice, { option }) ??
      refuseField('choose', `"choose": ${key} has ${choice.options.length} options, numbered from 0.`)
    );
  });
  if (changes.length === 0) return text;
  parseEntry(text);
  return changedText(text, changes);
}

async function taskOf(
  deps: OperatorDeps,
  upload: Upload,
  { table, entry, set }: { table: number; entry?: string | undefined; set: Record<string, string> },
): Promise<TableToPublish> {
  const found = tableOf(upload, table);
  const now = await deps.releaseClock.now(deps.database);
  const { id, name, publication, sha256 } = upload;
  const { seriesTimeZone, fiscalYearFirstMonth } = deps;
  return {
    upload: { id, name, publication, sha256, today: dateIn(seriesTimeZone, now) },
    ...{ table, entry: entryOf(entry ?? found.entry, { name, facts: set }) },
    ...{ seriesTimeZone, fiscalYearFirstMonth },
  };
}

function commandFor(name: string, facts: Readonly<Record<string, string>>, flag: string): string {
  const words = ['almanac', 'publish', name.startsWith('-') ? `./${name}` : name, flag];
  for (const [fact, value] of Object.entries(facts))
    if (metadataNames.has(fact)) words.push('--set', `${fact}=${value}`);
  return words.map(shellWord).join(' ');
}
