// Runs the recipes of docs/tools.md from the text of the page: each must print or return the newest value of DEMO.GDP. If a tool is not
// available, a stand-in sends its requests instead, and the printed line says so.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { request } from 'undici';
import { projectRoot } from '../../../kernel/project.ts';
import { runExample, type Place } from '../../docs/docs-examples.ts';
import { runProgram } from '../run-program.ts';
import { valuesOfDuckDb, type BulkFiles } from './bulk-files.ts';

const page = 'docs/tools.md';
const sheetRequest = /IMPORTDATA\("(?<url>[^"]+)"/;

interface Recipe {
  heading: string;
  kind: 'sh' | 'python' | 'r';
  /** The module or package that must be there; `ofItsOwn` is that of the tool. */
  ofItsOwn?: string;
}

const recipes: readonly Recipe[] = [
  { heading: 'curl', kind: 'sh' },
  { heading: 'pandas', kind: 'python' },
  { heading: 'R', kind: 'r' },
  { heading: 'fredapi', kind: 'python', ofItsOwn: 'fredapi' },
  { heading: 'pandas-datareader', kind: 'python', ofItsOwn: 'pandas_datareader' },
  { heading: 'fredr', kind: 'r', ofItsOwn: 'fredr' },
  { heading: 'quantmod', kind: 'r', ofItsOwn: 'quantmod' },
];
const bulkRecipes: readonly Required<Recipe>[] = [
  { heading: 'Polars', kind: 'python', ofItsOwn: 'polars' },
  { heading: "R's arrow", kind: 'r', ofItsOwn: 'arrow' },
];

/** The environment of the recipes. */
export interface Tools {
  place: Place;
  /** The newest value of DEMO.GDP, with its published digits. */
  newest: string;
  files: BulkFiles;
  /** Whether a tool is itself there, by the name of its module or package. */
  isThere(kind: 'python' | 'r', name: string): boolean;
}

/** Runs every recipe. @throws Error if one fails, or does not have the newest value. */
export async function checkRecipes(tools: Tools): Promise<void> {
  const { place, newest } = tools;
  for (const { heading, kind, ofItsOwn } of recipes) {
    const isItself = kind === 'sh' || ofItsOwn === undefined || tools.isThere(kind, ofItsOwn);
    if (heading === 'quantmod' && !isItself) {
      await answersAs(place, '/graph/fredgraph.csv?id=DEMO.GDP', { 'x-api-key': place.apiKey }, newest);
    } else {
      expectNewest(heading, await runExample({ ...exampleOf(heading, kind), kind }, place), newest);
    }
    report(heading, isItself ? 'its recipe runs' : 'is not here: its requests are answered');
  }
  await checkSpreadsheets(place, newest);
  await checkBulkRecipes(tools);
}

/** The text of the only fence of a language below a heading. @throws Error if the heading has no such fence. */
export function recipeOf(heading: string, language: string): string {
  return exampleOf(heading, language).text;
}

function exampleOf(heading: string, language: string) {
  const text = readFileSync(path.join(projectRoot, page), 'utf8');
  const start = text.indexOf(`\n## ${heading}\n`);
  const section = start < 0 ? '' : (text.slice(start + 1).split(/^## /m)[1] ?? '');
  const body = [...section.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].find((match) => match[1] === language);
  if (body?.[2] === undefined) throw new Error(`${page} has no recipe of ${heading} in ${language}.`);
  return { page, line: text.slice(0, start + 1).split('\n').length, file: '', text: body[2] };
}

async function checkSpreadsheets(place: Place, newest: string): Promise<void> {
  const address = (heading: string) => filled(recipeOf(heading, 'text').trim(), place);
  // Power Query first sends no credentials, and sends the stored ones when asked for Basic.
  const excel = address('Excel, Power Query and Power BI').slice(place.url.length);
  const challenged = await request(place.url + excel); // fetch identifies itself as a browser, which gets no challenge
  if (challenged.statusCode !== 401 || !/\bBasic realm=/.test(String(challenged.headers['www-authenticate'])))
    throw new Error(`A spreadsheet without a key is not asked for Basic: ${challenged.statusCode}`);
  const basic = `Basic ${Buffer.from(`${place.apiKey}:`).toString('base64')}`;
  await answersAs(place, excel, { authorization: basic }, newest);
  report('Excel', 'is not here: its requests are answered');
  const sheet = sheetRequest.exec(address('Google Sheets'))?.groups?.['url'] ?? '';
  await answersAs(place, sheet.slice(place.url.length), {}, newest);
  report('Google Sheets', 'is not here: its request is answered');
  await checkLibreOffice(address('LibreOffice'), place, newest);
}

/** LibreOffice asks for a user name and a password, which its store of passwords has: it shows no message of an error but its own. */
async function checkLibreOffice(series: string, place: Place, newest: string): Promise<void> {
  const vintages = `${place.url}/v1/series/DEMO.GDP/vintages?format=csv`;
  const search = `${place.url}/v1/search?q=gross+domestic+product&format=csv`;
  const absent = `${place.url}/v1/series/ABSENT?format=csv`;
  const [ofSeries, ofVintages, ofSearch, ofAbsent] = await sheetsOfLibreOffice(place, place.apiKey, [
    series,
    vintages,
    search,
    absent,
  ]);
  const [ofUnknownKey] = await sheetsOfLibreOffice(place, 'pk_live_unknown', [series]);
  expectNewest('LibreOffice', ofSeries?.at(-1)?.[1] ?? '', newest);
  assert.equal(ofVintages?.[0]?.[0], 'vintage');
  assert.ok(ofSearch?.some((row) => row.includes('DEMO.GDP')));
  assert.deepEqual([ofAbsent, ofUnknownKey], [null, null]);
  report('LibreOffice', 'opens the address of its recipe, vintages and a search with Basic, and no error');
}

/** The cells of each opened address, by rows, or null if LibreOffice refuses to open it. */
async function sheetsOfLibreOffice(
  { directory, env, url }: Place,
  key: string,
  addresses: readonly string[],
): Promise<(string[][] | null)[]> {
  const profile = path.join(directory, 'office');
  const words = [
    path.join(projectRoot, 'test/clients/tools/open_in_libreoffice.py'),
    ...[profile, new URL(url).hostname, key],
  ];
  const printed = await runProgram('python3', [...words, ...addresses], { cwd: directory, env });
  return printed
    .split('\n')
    .filter((line) => /^[[n]/.test(line))
    .map((line) => JSON.parse(line) as string[][] | null);
}

async function checkBulkRecipes({ place, newest, files, isThere }: Tools): Promise<void> {
  for (const values of await valuesOfDuckDb(files.named(recipeOf('DuckDB', 'sql')), place.directory)) {
    if (Number(values.at(-1)) !== Number(newest))
      throw new Error(`DuckDB ends with ${String(values.at(-1))}.`);
  }
  report('DuckDB', 'runs the queries of its recipe on downloaded files');
  const env = { ...place.env, NODE_PATH: path.join(projectRoot, 'node_modules') };
  const script = files.named(recipeOf('Polars', 'js'));
  const printed = await runProgram(process.execPath, ['-e', script], { cwd: place.directory, env });
  expectNewest('Polars', printed, newest);
  report('Polars', 'runs its recipe for Node.js');
  for (const { heading, kind, ofItsOwn } of bulkRecipes) {
    const example = exampleOf(heading, kind);
    if (kind !== 'sh' && isThere(kind, ofItsOwn)) {
      const text = files.named(example.text);
      expectNewest(heading, await runExample({ ...example, text, kind }, place), newest);
      report(`${heading} (${kind})`, 'its recipe runs');
      continue;
    }
    const header = /(Authorization|X-API-Key)"?: "?((?:Bearer )?pk_live_…)/.exec(example.text);
    const headers = { [header?.[1] ?? '']: filled(header?.[2] ?? '', place) };
    const answer = await fetch(`${place.url}/v1/bulk/${files.current.name}`, { headers });
    const sha256 = createHash('sha256')
      .update(await answer.bytes())
      .digest('hex');
    if (sha256 !== files.current.sha256)
      throw new Error(`${heading} does not get the file: ${answer.status}`);
    report(`${heading} (${kind})`, 'is not here: its request is answered');
  }
}

async function answersAs(
  place: Place,
  target: string,
  headers: Record<string, string>,
  newest: string,
): Promise<void> {
  const answer = await fetch(place.url + target, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${target} is answered with ${answer.status}: ${text}`);
  expectNewest(target, text, newest);
}

function expectNewest(what: string, printed: string, newest: string): void {
  if (!printed.includes(newest)) throw new Error(`${what} does not have ${newest}:\n${printed}`);
}

function filled(text: string, place: Place): string {
  return text.replaceAll('http://127.0.0.1:8080', place.url).replaceAll('pk_live_…', place.apiKey);
}

function report(tool: string, what: string): void {
  process.stdout.write(`${tool}: ${what}\n`);
}
