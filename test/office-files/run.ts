// Publishes many generated files and compares every stored value with the truth of the file.
// Usage: npm run try-office-files -- [--seed N] [--count M] [--keep FOLDER] [--only TEXT]. Files that are read wrongly are saved in the folder, each
// with its truth and its faults. Exits with 1 if a file is wrong. `--only` selects the files whose kind contains the text.
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../kernel/database.ts';
import { runGuarded } from '../run/guard.ts';
import { startServers } from '../run/servers.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { officeFile } from './generate.ts';
import type { Kind, OfficeFile } from './office-file.ts';
import { rateLines, tableLines, type Counted } from './results.ts';
import { isWrong, tryFile, type Tried } from './try.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '2000' },
    keep: { type: 'string' },
    only: { type: 'string' },
    refused: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const count = Number(values.count);
const keep = path.resolve(values.keep ?? path.join(tmpdir(), `office-files-${seed}`));
const printLine = (line: string) => void process.stdout.write(`${line}\n`);

await runGuarded(async ({ directory }) => {
  const servers = await startServers(directory);
  Object.assign(process.env, servers.env);
  const testDatabase = await createTestDatabase();
  const database = openDatabase(testDatabase.url, silentLog, {
    applicationName: 'office files',
    statementTimeoutMs: 0,
  });
  const started = performance.now();
  const all: Counted[] = [];
  try {
    for (let each = seed; all.length < count && each < seed + count * 200; each++) {
      const file = officeFile(each);
      if (values.only !== undefined && !Object.values(file.kind).join('\n').includes(values.only)) continue;
      const tried = await tryFile(database, file);
      all.push({ kind: file.kind, verdict: tried.verdict });
      if (isWrong(tried.verdict) || (values.refused && tried.verdict === 'refused')) saveFile(file, tried);
    }
  } finally {
    await database.close();
    await testDatabase.drop();
    await servers.stop();
  }
  const seconds = (performance.now() - started) / 1000;
  for (const line of [...tableLines(all), '', ...rateLines(all)]) printLine(line);
  const wrong = all.filter(({ verdict }) => isWrong(verdict)).length;
  printLine(
    `\n${all.length} files from seed ${seed} in ${seconds.toFixed(0)} s; ${wrong} are wrong${wrong === 0 ? '' : `, kept in ${keep}`}`,
  );
  return wrong === 0 ? 0 : 1;
});

function saveFile(file: OfficeFile, { verdict, why, ran }: Tried): void {
  const folder = path.join(keep, `${file.seed} ${file.kind.layout}`.replaceAll(/[^\w-]+/g, '-'));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, file.name), file.content);
  const { series, questions, kind, seed } = file;
  writeFileSync(
    path.join(folder, 'truth.json'),
    JSON.stringify({ verdict, why, seed, kind, questions, series, entries: ran.entries }, null, 1),
  );
  printLine(`${verdict}: seed ${seed}, ${kindText(kind)}: ${why.slice(0, 400)}`);
}

function kindText({ layout, frequency, dates, numbers, format }: Kind): string {
  return [layout, frequency, dates, numbers, format].join('; ');
}
