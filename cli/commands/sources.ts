// almanac sources: the URLs with a schedule, and the operators' actions on them. The rules are in ingest/publisher/sources/.
import { isPublisherAlive } from '../../ingest/publisher/releases/release-health.ts';
import { databaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import { createChildRunner } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { fetchDeps, loadInChild } from '../../ingest/publisher/sources/fetch-due-sources.ts';
import { fetchNow, findSource, removeSource } from '../../ingest/publisher/sources/source-actions.ts';
import { sourceReport } from '../../ingest/publisher/sources/source-report.ts';
import { selectSources, type Source } from '../../ingest/publisher/sources/sources.sql.ts';
import { withoutQuery } from '../../ingest/read/file-path.ts';
import { instantText } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { createLog } from '../../kernel/log/log.ts';
import { examples, jsonFlag, printJson, printTable, type DeclareCommand, type Terminal } from '../command.ts';
import { withData, type Installation } from '../installation.ts';

const aSource = ['<name>', 'of a source, as "almanac sources list" shows it'] as const;

export const sources: DeclareCommand = (command, terminal) => {
  command.description(
    'A URL is fetched by schedule if its entry in almanac.yml has a schedule and "almanac publish" has registered it: see docs/sources.md.',
  );
  command
    .command('list')
    .summary('list all, with their last and next fetch')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac sources list'))
    .action(({ json }) => inDatabase(terminal, (on) => list(on, terminal, json === true)));
  const actions = [
    ['show', 'show one with its entry of almanac.yml and the result of its last fetch', show],
    ['fetch', 'fetch one now, whenever it is due, and load it if it has changed', fetchOne],
    ['remove', 'stop fetching a source; its series stay', remove],
  ] as const;
  for (const [name, summary, act] of actions)
    command
      .command(name)
      .summary(summary)
      .argument(...aSource)
      .option(...jsonFlag)
      .addHelpText('after', examples(`almanac sources ${name} prices.gold`))
      .action((source, { json }) =>
        inDatabase(terminal, (on, installation) =>
          act(on, terminal, { name: source, json: json === true, installation }),
        ),
      );
};

interface Call {
  name: string;
  json: boolean;
  installation: Installation;
}

function inDatabase(
  terminal: Terminal,
  work: (database: Database, installation: Installation) => Promise<void>,
): Promise<void> {
  return withData(terminal.env, 'sources', work);
}

async function list(database: Database, terminal: Terminal, json: boolean): Promise<void> {
  const found = await selectSources(database);
  const isAlive = await isPublisherAlive(database);
  if (json) return printJson(terminal, { publisher_alive: isAlive, sources: found.map(sourceReport) });
  printTable(
    terminal,
    ['name', 'schedule', 'last fetch', 'result', 'last change', 'failures', 'next fetch'],
    found.map((source) => {
      const result = source.outcome?.['result'];
      return [
        source.name,
        source.schedule,
        textOf(source.fetchedAt),
        typeof result === 'string' ? result : '-',
        textOf(source.changedAt),
        String(source.failures),
        textOf(source.fetchAt),
      ];
    }),
  );
  if (!isAlive && found.length > 0)
    terminal.stderr.write('No publisher is running: nothing is fetched until one is started.\n');
}

async function show(database: Database, terminal: Terminal, { name, json }: Call): Promise<void> {
  const source = await findSource(database, name);
  if (json) return printJson(terminal, { ...sourceReport(source), entry: entryOf(source) });
  const lines: [string, string][] = [
    ['source', `${source.name}, of the publication ${source.publication}`],
    ['URL', `${withoutQuery(source.url)}${source.sheet === '' ? '' : `, sheet ${source.sheet}`}`],
    ['schedule', source.schedule],
    ['fetched', `${textOf(source.fetchedAt)}, changed ${textOf(source.changedAt)}`],
    ['next', `${textOf(source.fetchAt)}${source.leasedUntil === null ? '' : ', is being fetched'}`],
    [
      'failures',
      source.failures === 0 ? '0' : `${source.failures} in a row, since ${textOf(source.failingSince)}`,
    ],
    ['outcome', source.outcome === null ? '-' : JSON.stringify(source.outcome)],
    ['entry', JSON.stringify(entryOf(source))],
  ];
  for (const [title, text] of lines) terminal.stdout.write(`${title.padEnd(10)}${text}\n`);
}

async function fetchOne(
  database: Database,
  terminal: Terminal,
  { name, json, installation: { settings, databaseUrl } }: Call,
): Promise<void> {
  const log = createLog('sources', 'silent'); // failures are thrown or printed
  const { env } = terminal;
  const limits = settings.fileLimits;
  const children = createChildRunner<Tasks>({
    databaseUrl,
    applicationName: 'almanac sources',
    env,
    log,
    limits,
    isQuiet: true,
    niceness: 0,
  });
  const on = { database, clock: databaseClock, log };
  const deps = fetchDeps(on, { ...settings.sources, ...settings }, loadInChild(children));
  const { result, source } = await fetchNow(deps, name, new AbortController().signal);
  if (json) printJson(terminal, { ...sourceReport(source), result });
  if (result === 'failed') throw new Error(`${name} has failed. ${String(source.outcome?.['message'])}`);
  if (result === 'lost')
    throw new Error(`${name} was changed or fetched by another process meanwhile; nothing was loaded.`);
  if (json) return;
  const load = source.outcome?.['load'];
  const loaded = typeof load === 'number' ? `loaded: see "almanac loads show ${load}"` : 'loaded';
  terminal.stdout.write(`${name}: ${result === 'loaded' ? loaded : 'unchanged'}\n`);
}

async function remove(database: Database, terminal: Terminal, { name, json }: Call): Promise<void> {
  const source = await removeSource(database, name);
  if (json) return printJson(terminal, sourceReport(source));
  terminal.stdout.write(
    `${name} is no longer fetched; its series stay. "almanac publish" registers it again unless you remove "schedule" from its almanac.yml\n`,
  );
}

const textOf = (at: Date | null): string => (at === null ? '-' : instantText(at));

/** The entry without its `file`: a token may be in the URL. */
function entryOf({ entry }: Source): object {
  const { file: _file, ...rest } = entry as { file?: unknown };
  return rest;
}
