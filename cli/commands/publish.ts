// almanac publish: from a folder, files or URLs to served series. This file has the arguments, the preview and the questions; ingest/plan/
// analyses and loads the files.
import { metadataConstants, metadataNames } from '../../ingest/datasets/metadata.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import { planPublishing, type Plan, type PlannedTable } from '../../ingest/plan/plan.ts';
import { createChildRunner } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { tablesInChild, type ChildTables } from '../../ingest/publisher/child-process/load-tables.ts';
import type { TableDescription } from '../../ingest/entry/entry-schema.ts';
import { changeEntry } from '../../ingest/entry/entry-file.ts';
import { requireWritable } from '../../ingest/entry/write-entry-file.ts';
import type { TableToInspect } from '../../ingest/preview/inspect.ts';
import type { Inspected } from '../../ingest/entry/table-preview.ts';
import { isMissing } from '../../ingest/entry/missing-facts.ts';
import { nameOf, previewOf, rowsOf } from '../../ingest/plan/preview-text.ts';
import {
  changesDescription,
  publish as publishPlan,
  toLoad,
  type Published,
} from '../../ingest/publisher/publish-tables.ts';
import { withoutRows } from '../../ingest/preview/preview-rows.ts';
import { dateIn, systemClock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { createLog } from '../../kernel/log/log.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { UsageError, collect, examples, jsonFlag, type DeclareCommand, type Terminal } from '../command.ts';
import { withData, type Installation } from '../installation.ts';
import { createRunProgress } from '../progress.ts';
import { reportInterruption } from '../embargo/interrupted.ts';
import { askAll, askingAt, type Asking } from '../publish/questions.ts';
import {
  countsOf,
  linesOfTable,
  printAddresses,
  printPublished,
  printPublishedJson,
  requireAllPublished,
  tableName,
  tablesOf,
} from '../published-report.ts';

interface Wish {
  targets: string[];
  facts: Record<string, string>;
  yes: boolean;
  dryRun: boolean;
  again: boolean;
  json: boolean;
}

export const publish: DeclareCommand = (command, terminal) => {
  command
    .argument('<target...>', 'a folder, a CSV file or Excel workbook, or the URL of one')
    .option(
      '--yes',
      'accept the guesses; without it a terminal is asked, and elsewhere tables with guesses are not loaded',
    )
    .option(
      '--set <name=value>',
      'a fact of all new series, and of those where it is still a guess, such as unit=Percent; may be repeated',
      collect,
    )
    .option('--dry-run', 'say what would be loaded and what that would change; store nothing, write nothing')
    .option('--again', 'load also what has not changed')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac publish prices',
        'almanac publish prices --yes --set source="Statistics Office"',
        'almanac publish gdp.xlsx --dry-run',
        'almanac publish https://example.org/cpi.csv --yes',
      ),
    )
    .action(async (targets, options) => {
      const { yes = false, dryRun = false, again = false, json = false } = options;
      const wish = { targets, facts: factsOf(options.set ?? []), yes, dryRun, again, json };
      await withData(terminal.env, 'publish', async (database, installation) => {
        const { databaseUrl, settings } = installation;
        const children = createChildRunner<Tasks>({
          ...{ databaseUrl, applicationName: 'almanac publish', log: createLog('publish', 'silent') },
          ...{ limits: settings.fileLimits, env: terminal.env, isReused: true, isQuiet: true, niceness: 0 },
        });
        const asking = askingAt(terminal);
        const today = dateIn(settings.seriesTimeZone, systemClock.now());
        try {
          await publishAll(
            { database, installation, tables: tablesInChild(children), terminal, asking, today },
            wish,
          );
        } finally {
          asking.close();
          await children.close();
        }
      });
    });
};

function factsOf(given: readonly string[]): Record<string, string> {
  const facts = Object.fromEntries(
    given.map((text) => {
      const [, name = '', value] = /^([a-z_]+)=(.+)$/s.exec(text) ?? [];
      if (value === undefined) throw new UsageError(`--set takes name=value, not "${text}".`);
      if (!metadataNames.has(name))
        throw new UsageError(
          `--set ${name}: no fact of a series; there are ${[...metadataNames].join(', ')}.`,
        );
      return [name, value];
    }),
  );
  metadataConstants(facts); // before anything is written in almanac.yml
  return facts;
}

interface Run {
  database: Database;
  installation: Installation;
  /** Files are read in a child process, with limits: a file that exceeds them does not stop the others. */
  tables: ChildTables;
  terminal: Terminal;
  asking: Asking;
  /** YYYY-MM-DD. */
  today: string;
}

async function publishAll(run: Run, wish: Wish): Promise<void> {
  const { database, installation, tables, terminal, today } = run;
  const { stderr } = terminal;
  const plans = await planPublishing(database, {
    targets: wish.targets,
    facts: wish.facts,
    again: wish.again,
    today,
    find: tables.find,
    onFile: (path, number, of) => {
      if (stderr.isTTY === true) stderr.write(`\r\x1b[Kreading ${number} of ${of}: ${path.slice(-60)}`);
    },
  });
  if (stderr.isTTY === true) stderr.write('\r\x1b[K');
  try {
    const results: Published[] = [];
    for (const plan of plans) results.push(await publishOne(run, plan, wish));
    const published = { plans, results, dryRun: wish.dryRun };
    if (wish.json) printPublishedJson(terminal, published);
    else {
      printPublished(terminal, published);
      await printAddresses(terminal, published, installation.settings);
    }
    requireAllPublished(published);
  } finally {
    for (const plan of plans) await plan.close();
  }
}

async function publishOne(run: Run, plan: Plan, wish: Wish): Promise<Published> {
  const { database, installation, terminal } = run;
  const { load } = run.tables;
  const { stderr } = terminal;
  if (!wish.dryRun && changesDescription(plan, true)) requireWritable(plan.descriptionPath);
  const acceptGuesses = (await shown(run, plan, wish)) || wish.yes;
  const { seriesTimeZone, fiscalYearFirstMonth } = installation.settings;
  const tables = toLoad(plan, acceptGuesses);
  const shared = { load, acceptGuesses, seriesTimeZone, fiscalYearFirstMonth, clock: systemClock };
  const edited = { ...plan, tables: tables.filter(({ state }) => state === 'entry changed') };
  if (edited.tables.length > 0 && !wish.dryRun && !wish.json) {
    const { loaded } = await publishPlan(database, edited, { ...shared, dryRun: true });
    for (const { table, loaded: would } of loaded)
      stderr.write(`${tableName(table)}: the edit would make ${countsOf(would.summary)}\n`);
  }
  const progress = createRunProgress(stderr);
  const published = await publishPlan(database, plan, {
    ...shared,
    dryRun: wish.dryRun,
    sourceGuard: createAddressGuard(installation.settings.sources),
    onProgress: (state) => progress.show(state),
    onWaiting: () => {
      progress.clear();
      stderr.write('Another load is running; this one waits for it.\n');
    },
    onInterrupted: (interruption) => {
      progress.clear();
      reportInterruption(terminal, 'load')(interruption);
    },
    // A terminal shows one line for the whole run, and the tables at its end.
    onLoaded: (table, loaded) => {
      if (wish.json || terminal.stdout.isTTY === true) return;
      progress.clear();
      for (const line of linesOfTable(table, loaded, wish.dryRun)) terminal.stdout.write(`${line}\n`);
    },
    onFailed: (table, failure) => {
      progress.clear();
      if (!wish.json) stderr.write(`${tableName(table)}: not loaded. ${failure.message}\n`);
    },
  });
  progress.clear();
  return published;
}

/** Shows the plan of the run. @returns whether a user at a terminal accepts the guesses as settled, or nothing would be stored. */
async function shown(run: Run, plan: Plan, { dryRun, json, yes }: Wish): Promise<boolean> {
  const { terminal } = run;
  if (json) return dryRun;
  const inspected = await inspectAll(run, plan, { withGuessed: !yes });
  const asked = plan.tables.filter(
    ({ entry, isGuessed, state }) =>
      state !== 'unchanged' &&
      (isGuessed || (inspected.get(entry)?.choices ?? []).some((choice) => isMissing(entry, choice))),
  );
  const isAsked = asked.length > 0 && terminal.stdin.isTTY === true && !dryRun && !yes;
  terminal.stderr.write(previewOf(plan, { inspected, withLines: !isAsked && !yes }));
  return isAsked ? confirmed(run, plan, asked, inspected) : dryRun;
}

const inspectedMax = 40;
/** Facts that change no row. */
const keysWithoutRowEffect = /^(?:series\.(?:unit|source|name)|columns\..+\.unit)$/s;

/** The tables whose rows are read again: new and edited tables, and those whose guesses were not confirmed in an earlier run. */
async function inspectAll(
  { tables, today }: Run,
  plan: Plan,
  { withGuessed }: { withGuessed: boolean },
): Promise<Map<TableDescription, Inspected>> {
  const inspected = new Map<TableDescription, Inspected>();
  for (const each of plan.newEntries)
    if (each.inspected !== undefined) inspected.set(each.entry, each.inspected);
  const isNew = new Set(plan.newEntries.map(({ entry }) => entry));
  const others = plan.tables.filter(
    ({ entry, state, isGuessed }) =>
      !isNew.has(entry) && (state === 'entry changed' || (withGuessed && isGuessed && state !== 'unchanged')),
  );
  for (const { entry, path, file } of others.slice(0, inspectedMax))
    if (!inspected.has(entry)) inspected.set(entry, await inspectOne(tables, { entry, path, file, today }));
  return inspected;
}

/** Skips a file that cannot be read by its entry: its load reports the error. */
async function inspectOne(tables: ChildTables, table: TableToInspect): Promise<Inspected> {
  try {
    return await tables.inspect(table);
  } catch (error) {
    if (!(error instanceof IngestFailure)) throw error;
    return { preview: withoutRows(error.message), choices: [] };
  }
}

/** Asks at the terminal how to settle the guesses, for the missing facts, and whether to load tables with guesses. */
async function confirmed(
  { asking, tables, terminal, today }: Run,
  plan: Plan,
  asked: readonly PlannedTable[],
  inspected: ReadonlyMap<TableDescription, Inspected>,
): Promise<boolean> {
  const entries = [...new Set(asked.map(({ entry }) => entry))];
  const choices = entries.map((entry) => ({ entry, choices: inspected.get(entry)?.choices ?? [] }));
  const picked = await askAll(choices, asking, terminal);
  for (const { entry, change, label } of picked ?? [])
    changeEntry(plan.description, entry, change, `picked: ${label}`);
  if (picked !== null && picked.length > 0) plan.isCompleted = true;
  const reread = new Set(
    (picked ?? []).flatMap(({ entry, change }) =>
      Object.keys(change).every((key) => keysWithoutRowEffect.test(key)) ? [] : [entry],
    ),
  );
  for (const { entry, path, file } of asked
    .filter((table) => reread.delete(table.entry))
    .slice(0, inspectedMax)) {
    const { preview } = await inspectOne(tables, { entry, path, file, today });
    terminal.stderr.write(`\n${nameOf(entry)}, as you have answered it\n${rowsOf(preview).join('\n')}\n`);
  }
  const guessed = asked.filter(({ isGuessed }) => isGuessed);
  if (guessed.length === 0) return false;
  const answer = await asking.ask(`\nLoad ${tablesOf(guessed.length)}? [y/N] `);
  return answer !== null && /^y(?:es)?$/i.test(answer);
}
