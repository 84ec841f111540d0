// A stranger's first session, on an installation of its own: publish a folder of real files at a terminal with one answer for each missing fact,
// find a series, see its chart, make an account and a key, and read the series by the Python that its page shows. Hides the terminal and the browser.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Page } from 'playwright-core';
import { projectRoot } from '../../../kernel/project.ts';
import { openBrowser, type Visitor } from '../../dashboard/browser.ts';
import { makeKey } from '../../dashboard/people.ts';
import { needProgram } from '../../run/debian.ts';
import { createInstallation, type Installation } from '../../services/instance.ts';
import { newPassword } from '../../services/sign-in.ts';

/** Reports what was seen true. */
type Seen = (fact: string) => void;

const series = 'gold-prices__monthly';
/** What the stranger types where a fact is missing, by the fact; "all: …" answers for the further columns of the table. */
const answers: Readonly<Record<string, string>> = {
  unit: 'Unit of the office',
  source: 'Office of the stranger',
  name: 'Named by the stranger',
};
const inventedFacts = /not stated|undefined|\bNaN\b/i;
const interpreters = ['python3', '/usr/bin/python3'];

export async function checkStranger({ folder, seen }: { folder: string; seen: Seen }): Promise<void> {
  const from = path.join(folder, '01_core_series_pddl');
  const scratch = mkdtempSync(path.join(tmpdir(), 'almanac-stranger-'));
  const installation = await createInstallation({ DASHBOARD: 'on' });
  try {
    for (const name of readdirSync(from)) symlinkSync(path.join(from, name), path.join(scratch, name));
    const { apiKey } = await installation.start();
    assert.ok(apiKey, 'the first start prints a key');
    const asked = await publishAtTerminal(installation, scratch);
    assert.ok(asked.includes('unit') && asked.includes('source'), 'units and a source are asked for');
    const rows = await catalogue(installation);
    const bare = rows.filter(({ unit, source }) => unit === null || source === null).map(({ id }) => id);
    assert.deepEqual(bare, [], 'every series has a unit and a source');
    seen(
      `19 tables were published with ${asked.length} answers, and each of ${rows.length} series has a unit and a source`,
    );
    await visit(installation, seen);
  } finally {
    await installation.remove();
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Runs `almanac publish` at a terminal. @returns the facts that were asked for, in their order. */
async function publishAtTerminal({ env }: Installation, folder: string): Promise<string[]> {
  const program = [process.execPath, path.join(projectRoot, 'almanac.js'), 'publish', '.'];
  const terminal = spawn(
    needProgram('script', 'bsdutils'),
    ['-qec', program.map((word) => `'${word}'`).join(' '), '/dev/null'],
    {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const asked: string[] = [];
  let printed = '';
  let read = 0;
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    const prompt = /(?:press Enter [^\n]*|\[y\/N\]) ?:? ?$/.exec(printed.slice(read));
    if (prompt === null) return;
    const [, fact] =
      /^(?:series|columns)\.(?:.*\.)?(unit|source|name): Nobody/m.exec(printed.slice(read)) ?? [];
    read = printed.length;
    if (fact !== undefined) asked.push(fact);
    terminal.stdin.write(
      `${fact === undefined ? (prompt[0].includes('y/N') ? 'y' : '') : (answers[fact] ?? '')}\n`,
    );
  });
  const code = await new Promise<number | null>((resolve) => terminal.on('exit', resolve));
  assert.equal(code, 0, printed);
  assert.match(printed, /19 tables loaded/);
  assert.doesNotMatch(printed, inventedFacts);
  return asked;
}

async function catalogue({
  url,
}: Installation): Promise<{ id: string; unit: string | null; source: string | null }[]> {
  const response = await fetch(`${url}/v1/catalog?limit=1000`);
  const text = await response.text();
  assert.doesNotMatch(text, inventedFacts);
  return (JSON.parse(text) as { data: { id: string; unit: string | null; source: string | null }[] }).data;
}

async function visit({ url }: Installation, seen: Seen): Promise<void> {
  const executable = needProgram('chromium', 'chromium', 'fonts-liberation');
  const browsers = await openBrowser({ executable, origin: url, screenshots: undefined, failures: tmpdir() });
  try {
    for (const width of [1280, 375]) {
      const visitor = await browsers.visitor(width);
      try {
        await findAndRead(visitor, url, seen);
      } catch (error) {
        throw new Error(
          `${width} px, at ${visitor.page.url()}, see ${await visitor.keepFailure('stranger')}`,
          { cause: error },
        );
      } finally {
        await visitor.leave();
      }
      visitor.assertNoFaults();
    }
  } finally {
    await browsers.close();
  }
}

async function findAndRead(visitor: Visitor, url: string, seen: Seen): Promise<void> {
  const { page, width } = visitor;
  await visitor.open('/');
  await invented(page);
  await page.getByRole('combobox').first().fill('gold price');
  await page.getByRole('option').filter({ hasText: series }).click();
  await page.waitForURL(`**/series/${series}**`);
  await page.locator('figure svg, .chart svg').first().waitFor();
  await page.getByText('Unit of the office').first().waitFor();
  await invented(page);
  await visitor.look('stranger-series');
  await page.getByRole('tab', { name: 'Python' }).click();
  const code = (await page.locator('pre', { hasText: 'pd.read_csv' }).textContent()) ?? '';
  for (const target of ['/catalogue', `/compare?s=${series}`]) {
    await visitor.open(target);
    await page.getByText('old Prices').first().waitFor();
    await invented(page);
  }
  await visitor.open('/sign-up');
  await page.getByLabel('E-mail address').fill(`stranger-${width}@example.org`);
  await page.getByLabel('Password').fill(newPassword());
  await page.getByRole('button', { name: 'Make an account' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('link', { name: 'Create a key' }).click();
  const key = await makeKey(page, 'Notebook');
  seen(`at ${width} px a series is found, charted, and a key is made`);
  await readByPandas(code, key, url, seen);
}

async function invented(page: Page): Promise<void> {
  const text = await page.locator('body').innerText();
  assert.doesNotMatch(text, inventedFacts, page.url());
}

async function readByPandas(code: string, key: string, url: string, seen: Seen): Promise<void> {
  assert.ok(code.includes(`/v1/series/${series}?`), code);
  const python = interpreters.find((each) => spawnSync(each, ['-c', 'import pandas']).status === 0);
  if (python === undefined) {
    process.stdout.write('  pandas is not installed, so the snippet of the page is not run.\n');
    return;
  }
  const ran = spawnSync(python, ['-c', `${code}\nprint(len(df), df["value"].iloc[-1], df["date"].dtype)`], {
    env: { ...process.env, ALMANAC_KEY: key },
    encoding: 'utf8',
  });
  assert.equal(ran.status, 0, ran.stderr);
  const address = /"(http[^"]+)"/.exec(code)?.[1] ?? url;
  const csv = await (await fetch(address, { headers: { 'x-api-key': key } })).text();
  const rows = parse<Record<string, string>>(csv, { columns: true, bom: true });
  const [count, value, type] = ran.stdout.trim().split(' ');
  assert.deepEqual([Number(count), Number(value)], [rows.length, Number(rows.at(-1)?.['value'])]);
  assert.match(type ?? '', /^datetime64/);
  seen(`${rows.length} values are read by the Python that the page shows`);
}
