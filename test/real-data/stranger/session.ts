// A stranger's first session: a clone, the README's two commands, a folder published with an answer to each question, and its data found,
// seen and read with a key of a new account. Nowhere is a fact "not stated", and no folder's name is a source.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { projectRoot } from '../../../kernel/project.ts';
import { runProgram } from '../../clients/run-program.ts';
import { openBrowser, type Visitor } from '../../dashboard/browser.ts';
import { layoutFaultsOf } from '../../dashboard/fitting.ts';
import { makeKey, signIn } from '../../dashboard/people.ts';
import { needProgram } from '../../run/debian.ts';
import { newPassword } from '../../services/sign-in.ts';
import { endOfPeriod, rowsOf } from '../published-files.ts';
import { pandasPython } from '../frequencies.ts';
import type { Check, StrangersOptions } from '../run.ts';
import { copyBeside, startFreshClone, type FreshClone } from './fresh-clone.ts';
import { runAnswering } from './typed-answers.ts';

const data = '01_core_series_pddl';
/** The series that is looked for, and its file. */
const [id, file] = ['gold-prices__monthly', 'gold-prices__monthly.csv'];
const unit = 'US dollars per troy ounce';
const publisher = 'European Money Markets Institute';
const email = 'stranger@example.org';
const widths = [1280, 375] as const;
/** Text that no page and no answer may contain. */
const unwanted = /not stated|01_core_series|core[_ ]series[_ ]pddl/i;

export async function checkStranger({
  folder,
  seen,
  linkModules,
  screenshots,
}: Check & StrangersOptions): Promise<void> {
  const almanac = await startFreshClone(linkModules);
  try {
    seen(`a fresh clone in "${path.basename(almanac.options.cwd)}" serves after the README's two commands`);
    await publishByAnswers(almanac, path.join(folder, data), seen);
    await findByHttp(almanac);
    const wanted = rowsOf(path.join(folder, data, file)).map((row): Value => [
      endOfPeriod(row['Date'] ?? '', 1),
      Number(row['Price']),
    ]);
    const key = await inBrowser(almanac, seen, screenshots);
    const values = await readByCurl(almanac, key);
    assert.deepEqual(values, wanted);
    seen(`curl reads all ${values.length} values of the file with the key of a new account`);
    const python = pandasPython();
    if (python === undefined)
      process.stdout.write('  pandas is not installed, so nothing is read with it.\n');
    else {
      assert.deepEqual(await readByPandas(almanac, { python, key }), wanted);
      seen('pandas.read_csv with a header reads the same');
    }
    assert.equal(await almanac.stop(), 0, 'Ctrl-C ends it with 0');
  } finally {
    await almanac.remove();
  }
}

type Value = [date: string, value: number];

async function publishByAnswers(almanac: FreshClone, from: string, seen: Check['seen']): Promise<void> {
  const published = copyBeside(almanac, from);
  const { exchanges, printed } = await runAnswering(
    `npx almanac publish '${published}'`,
    almanac.options,
    (question) => {
      if (question.endsWith('[y/N] ')) return 'y';
      if (question.includes('Type a number')) return ''; // the first
      if (question.includes('series.source:')) return publisher;
      if (question.includes('gold-prices')) return unit;
      return question.includes('as all:') ? 'all: As published' : 'Percent';
    },
  );
  const asked = exchanges.map(({ question }) => question.replace(/^\(\d+ of \d+\) /, ''));
  assert.equal(
    asked.filter((each) => each.includes('The publisher of the values')).length,
    1,
    'the publisher is asked once',
  );
  assert.equal(new Set(asked).size, asked.length, 'no question comes twice');
  assert.match(printed, /19 tables loaded/);
  assert.doesNotMatch(printed, /not loaded\./);
  seen(`publish asks ${exchanges.length} questions and loads 19 tables`);
}

/** The text of an answer, with the key of the first start. */
async function answer(almanac: FreshClone, target: string): Promise<string> {
  const response = await fetch(almanac.url + target, { headers: { 'x-api-key': almanac.apiKey } });
  const text = await response.text();
  assert.equal(response.status, 200, `${target}: ${text}`);
  assert.doesNotMatch(text, unwanted, target);
  return text;
}

async function findByHttp(almanac: FreshClone): Promise<void> {
  const hits = JSON.parse(await answer(almanac, '/v1/search?q=gold+prices')) as { data: { id: string }[] };
  assert.ok(hits.data.some((hit) => hit.id === id));
  const { data: entry } = JSON.parse(await answer(almanac, `/v1/catalog/${id}`)) as {
    data: { unit: string; source: string };
  };
  assert.equal(entry.unit, unit);
  assert.match(entry.source, /^World Bank Commodity Markets/);
  for (const target of ['/v1/catalog?limit=1000&facets=true', '/v1/sources', '/v1/status', '/v1/updates'])
    await answer(almanac, target);
}

/** Finds the series and sees its chart at both widths; signs in as a new account. @returns its new key. */
async function inBrowser(
  almanac: FreshClone,
  seen: Check['seen'],
  screenshots: string | undefined,
): Promise<string> {
  const password = newPassword();
  const program = path.join(almanac.options.cwd, 'almanac.js');
  await runProgram(process.execPath, [program, 'accounts', 'create', email], almanac.options);
  await runProgram('sh', ['-c', `printf %s "$PASSWORD" | npx almanac accounts set-password ${email}`], {
    ...almanac.options,
    env: { ...almanac.options.env, PASSWORD: password },
  });
  if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  const browsers = await openBrowser({
    executable: needProgram('chromium', 'chromium', 'fonts-liberation'),
    origin: almanac.url,
    screenshots,
    failures: path.join(projectRoot, 'node_modules/.cache/walks'),
  });
  let key = '';
  try {
    for (const width of widths) {
      const visitor = await browsers.visitor(width);
      try {
        await findSeries(visitor);
        key = await keyOf(visitor, { email, password });
        visitor.assertNoFaults();
      } catch (error) {
        throw new Error(`At ${width} px, see ${await visitor.saveFailure('stranger')}`, { cause: error });
      }
      await visitor.leave();
    }
  } finally {
    await browsers.close();
  }
  seen(`the series is found in the dashboard and its chart is seen, at ${widths.join(' and ')} px`);
  return key;
}

async function findSeries(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await visitor.open('/');
  await look(visitor, 'stranger-front');
  await page.getByRole('combobox').first().fill('gold prices monthly');
  await page.getByRole('option', { name: 'Gold Prices, monthly' }).click();
  await page.getByRole('heading', { name: 'Gold Prices, monthly', level: 1 }).waitFor();
  const chart = page.locator('.chart-area svg');
  await chart.waitFor();
  assert.ok((await chart.locator('path').count()) > 0, 'the chart has a line');
  await page.getByText(unit, { exact: true }).locator('visible=true').first().waitFor();
  await look(visitor, 'stranger-series');
  await visitor.open('/catalogue?q=euribor');
  await page.getByRole('link', { name: /Euribor.*3m/ }).click();
  await page.getByText(publisher).locator('visible=true').first().waitFor();
  await look(visitor, 'stranger-source');
}

async function keyOf(visitor: Visitor, person: { email: string; password: string }): Promise<string> {
  const { page } = visitor;
  await visitor.open('/sign-in');
  await signIn(page, person);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await look(visitor, 'stranger-overview');
  await visitor.open('/dashboard/keys');
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  const key = await makeKey(page, `first at ${visitor.width} px`);
  await look(visitor, 'stranger-keys');
  await visitor.open('/dashboard/usage');
  await page.getByRole('heading', { name: 'Usage' }).waitFor();
  await look(visitor, 'stranger-usage');
  return key;
}

/** Checks a page: no text on it is cut off or forbidden. */
async function look(visitor: Visitor, name: string): Promise<void> {
  await visitor.look(name);
  assert.deepEqual(await layoutFaultsOf(visitor.page), [], name);
  assert.doesNotMatch(await visitor.page.locator('body').innerText(), unwanted, name);
}

const csvPath = `/v1/series/${id}?format=csv&limit=100000`;

async function readByCurl({ url, options }: FreshClone, key: string): Promise<Value[]> {
  const text = await runProgram('curl', ['-sSf', '-H', `X-API-Key: ${key}`, url + csvPath], options);
  assert.doesNotMatch(text, unwanted);
  return parse<Record<string, string>>(text, { columns: true }).map((row) => [
    row['date'] ?? '',
    Number(row['value']),
  ]);
}

const readCsv = `
import json, sys
import pandas
frame = pandas.read_csv(sys.argv[1], storage_options={"X-API-Key": sys.argv[2]})
print(json.dumps(list(zip(frame["date"], frame["value"]))))
`;

async function readByPandas(
  { url, options }: FreshClone,
  { python, key }: { python: string; key: string },
): Promise<Value[]> {
  return JSON.parse(await runProgram(python, ['-c', readCsv, url + csvPath, key], options)) as Value[];
}
