// almanac releases: the loads under embargo, and the operators' actions on them. The rules are in ingest/publisher/releases/.
import { selectHistory, selectReleases, type Release } from '../../ingest/publisher/releases/embargo.sql.ts';
import { cancelRelease, findRelease, releaseNow } from '../../ingest/publisher/releases/release-actions.ts';
import { lateMs } from '../../ingest/publisher/release-loop.ts';
import { historyReport, lateBy, releaseReport } from '../../ingest/publisher/releases/release-report.ts';
import { databaseClock } from '../../ingest/publisher/releases/release-clock.ts';
import { isPublisherAlive } from '../../ingest/publisher/releases/release-health.ts';
import type { Database } from '../../kernel/database.ts';
import { createLog } from '../../kernel/log/log.ts';
import {
  UsageError,
  examples,
  jsonFlag,
  printJson,
  printTable,
  type DeclareCommand,
  type Terminal,
} from '../command.ts';
import { withData } from '../installation.ts';

const aRelease = ['<number>', 'of a release, as "almanac releases list" shows it', releaseNumber] as const;

export const releases: DeclareCommand = (command, terminal) => {
  command.description(
    'A load of "almanac ingest" is under embargo if it is given an instant or an entry of the calendar: see docs/embargo.md.',
  );
  command
    .command('list')
    .summary('list pending releases, and the newest hundred of the others')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac releases list'))
    .action(({ json }) => inDatabase(terminal, (on) => list(on, terminal, json === true)));
  const actions = [
    ['show', 'show one with its check, its outcome, and who did what with it', show],
    ['cancel', 'cancel one: it is never published, and its file is deleted', cancel],
    ['now', 'make one visible now, whenever it is due, also one that is held or has failed', now],
  ] as const;
  for (const [name, summary, act] of actions)
    command
      .command(name)
      .summary(summary)
      .argument(...aRelease)
      .option(...jsonFlag)
      .addHelpText('after', examples(`almanac releases ${name} 3`))
      .action((releaseNo, { json }) =>
        inDatabase(terminal, (on) => act(on, terminal, { releaseNo, json: json === true })),
      );
};

function releaseNumber(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`a release has a number, as "almanac releases list" shows it, not "${text}".`);
  return Number(text);
}

interface Call {
  releaseNo: number;
  json: boolean;
}

function inDatabase(terminal: Terminal, work: (database: Database) => Promise<void>): Promise<void> {
  return withData(terminal.env, 'releases', work);
}

async function list(database: Database, terminal: Terminal, json: boolean): Promise<void> {
  const found = await selectReleases(database);
  const isAlive = await isPublisherAlive(database);
  if (json) return printJson(terminal, { publisher_alive: isAlive, releases: found.map(releaseReport) });
  printTable(
    terminal,
    ['release', 'state', 'due', 'with', 'dataset', 'file', 'rows', 'new', 'revised', 'deleted'],
    found.map((release) => {
      const {
        rows_read: rows,
        points_new: added,
        points_revised: revised,
        points_deleted: deleted,
      } = countsOf(release);
      return [
        String(release.releaseNo),
        stateText(release),
        release.at?.toISOString() ?? '-',
        release.calendarId ?? '-',
        ...[release.dataset, release.sourceName],
        ...[rows, added, revised, deleted].map(String),
      ];
    }),
  );
  if (!isAlive && found.some(({ state }) => state === 'pending'))
    terminal.stderr.write('No publisher is running: nothing is released until one is started.\n');
}

async function show(database: Database, terminal: Terminal, { releaseNo, json }: Call): Promise<void> {
  const release = await findRelease(database, releaseNo);
  const history = await selectHistory(database, releaseNo);
  if (json) return printJson(terminal, { ...releaseReport(release), history: history.map(historyReport) });
  const lines: [string, string][] = [
    ['release', `${releaseNo}, ${stateText(release)}`],
    ['due', release.at?.toISOString() ?? '-'],
    ['with', release.calendarId === null ? '-' : `the calendar entry ${release.calendarId}`],
    ['load', `${release.dataset} from ${release.sourceName}`],
    ['options', JSON.stringify(release.options)],
    ['file', `${release.fileBytes} bytes, SHA-256 ${release.fileSha256}`],
    ['begins', `${release.leadMs / 1000} s before it is due`],
    ['checked', JSON.stringify(release.checked)],
    ['outcome', release.outcome === null ? '-' : JSON.stringify(release.outcome)],
    ...history.map(({ at, event, actor, detail }): [string, string] => [
      event,
      `${at.toISOString()} ${actor}${detail === null ? '' : `, ${detail}`}`,
    ]),
  ];
  for (const [name, text] of lines) terminal.stdout.write(`${name.padEnd(10)}${text}\n`);
}

async function cancel(database: Database, terminal: Terminal, { releaseNo, json }: Call): Promise<void> {
  const release = await cancelRelease(database, releaseNo);
  if (json) return printJson(terminal, releaseReport(release));
  terminal.stdout.write(`release ${releaseNo} is cancelled; its file is deleted\n`);
}

async function now(database: Database, terminal: Terminal, { releaseNo, json }: Call): Promise<void> {
  const log = createLog('releases', 'silent'); // failures are thrown or printed
  const never = new AbortController().signal;
  const release = await releaseNow({ database, clock: databaseClock, log }, releaseNo, never);
  if (json) printJson(terminal, releaseReport(release));
  if (release.state === 'released') {
    if (!json) terminal.stdout.write(`release ${releaseNo} is made\n`);
    return;
  }
  const { message } = release.outcome as { message?: string };
  throw new Error(`Release ${releaseNo} has failed; nothing of it is stored. ${message ?? ''}`);
}

/** What was loaded or, before that, what the check found. */
function countsOf({ state, checked, outcome }: Release): Record<string, unknown> {
  return state === 'released' && outcome !== null ? outcome : checked;
}

function stateText(release: Release): string {
  if (release.held !== null) return `held (${release.held})`;
  const lateByMs = lateBy(release);
  return lateByMs > lateMs ? `${release.state} (late by ${(lateByMs / 1000).toFixed(1)} s)` : release.state;
}
