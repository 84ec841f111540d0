// Find a series by the keyboard, shape a view of it, and take it along as a table, a file, a command and an address; go on to the one that continues it.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { declareContinuation } from '../../../ingest/history/series/continuation.ts';
import { assert, assertSame } from '../people.ts';
import { cellsOf, monthOf, readApi, readCsv, useKey, written, type Observation } from '../reading.ts';
import type { Stage } from '../stage.ts';
import type { Visitor } from '../browser.ts';
import type { Walk } from '../walks.ts';

interface Vintages {
  data: { vintage: string }[];
}

export const oneSeries: Walk = {
  name: 'find a series, shape a view, take it along',
  async run(stage, visitor) {
    const { page } = visitor;
    await find(visitor);
    await page.getByText('This is the public preview').waitFor();
    await page.getByText(/of the newest \d+ values per line/).waitFor();
    assert(await page.getByLabel('Transform').isDisabled(), 'a transform needs a key');
    await visitor.look('series-preview');

    await useKey(page, stage.apiKey);
    assert(
      !(
        await page.evaluate<string>('JSON.stringify([sessionStorage, localStorage, location.href])')
      ).includes(stage.apiKey),
      'the key is in no URL and no storage',
    );
    await aggregate(visitor);
    const view = await shape(stage, page);
    await visitor.look('series');
    await showTable(page);
    const table = await cellsOf(page.getByRole('region', { name: 'Values', exact: true }));
    const { data } = await readApi<{ data: Observation[] }>(stage, `/v1/series/DEMO.CPI?${view}`);
    assertSame(
      JSON.stringify(table),
      JSON.stringify(data.map(({ date, value }) => [monthOf(date), written(value, 2)]).reverse()),
      'the table, and the answer of the API to the same URL',
    );
    await visitor.look('series-table');
    await runCopiedCommand(stage, page, view, data);
    await cite(stage, visitor, view);

    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('view'));
    await page.locator('.brush').waitFor();
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('to'));
    await page.goForward();
    await page.goForward();
    const address = page.url();
    await page.goto('about:blank'); // clears the page's memory
    await page.goto(address);
    await page.getByText('needs a key: these are the values as published').waitFor();
    await useKey(page, stage.apiKey);
    await page.getByText('As published by').waitFor();
    assertSame(
      JSON.stringify(await cellsOf(page.getByRole('region', { name: 'Values', exact: true }))),
      JSON.stringify(table),
      'the table of the same address in a new page',
    );
    await openTools(visitor);
  },
};

export const continuedSeries: Walk = {
  name: 'go on from a series that ended to the one that continues it, and back',
  async run({ services, clock }, visitor) {
    const { page } = visitor;
    const [monthly, quarterly] = ['M', 'Q'].map((end) => `WALK.${page.viewportSize()?.width}.${end}`);
    if (monthly === undefined || quarterly === undefined) throw new Error('there are two series');
    await services.ingest(`series_id,date,value\n${monthly},2024-01,1\n${monthly},2024-02,2`);
    await services.ingest(`series_id,date,value\n${quarterly},2024-Q1,1\n${quarterly},2024-Q2,2`, {
      set: { frequency: 'quarterly' },
    });
    await declareContinuation(services.database, {
      ...{ id: monthly, continuedBy: quarterly, frequency: 'quarterly', from: '2024-03' },
      ...{ note: 'Fewer surveys.', seriesTimeZone: 'UTC', clock },
    });
    await visitor.open(`/series/${monthly}`);
    await page.getByText(`Continued by ${quarterly} (quarterly) from 1 Mar 2024. Fewer surveys.`).waitFor();
    await visitor.look('series-continued');
    await page.getByText('Continued by').getByRole('link').click();
    await page.waitForURL((url) => url.pathname === `/series/${quarterly}`);
    await page.getByText(`Continues ${monthly}.`).waitFor();
    await visitor.look('series-continues');
    await page.getByText(`Continues ${monthly}.`).getByRole('link').click();
    await page.waitForURL((url) => url.pathname === `/series/${monthly}`);
  },
};

/** By keys alone, from the front page to that of the series. */
async function find(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await visitor.open('/');
  await page.getByRole('table', { name: 'Newest releases' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('consumer price');
  await page.getByRole('option', { name: 'DEMO.CPI' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('[role=option][aria-selected=true]', { hasText: 'DEMO.CPI' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/series\/DEMO\.CPI$/);
}

/** A lower frequency and a transform of it: the page names both, next to the chart and below it. Ends with the series as published. */
async function aggregate(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const address = page.url();
  await page.getByLabel('Frequency').selectOption('quarterly');
  await page.waitForURL(/frequency=quarterly/);
  await page.getByLabel('Transform').selectOption('change_yoy');
  await page.waitForURL(/transform=change_yoy/);
  await page.getByText('Each quarter is the mean of its monthly values. Change on the year.').waitFor();
  await page.locator('.half p', { hasText: 'Quarterly mean, change on the year' }).waitFor();
  await visitor.look('series-quarterly');
  await page.getByLabel('Transform').selectOption('');
  await page.waitForURL((url) => !url.searchParams.has('transform'));
  await page.getByLabel('Frequency').selectOption('');
  await page.waitForURL(address);
}

const tools = {
  Python: 'pd.read_csv',
  R: 'read.csv',
  JavaScript: 'await fetch',
  Sheets: '=IMPORTDATA',
  fredapi: 'fred.get_series("DEMO.CPI"',
  fredr: 'fredr("DEMO.CPI"',
  Excel: 'Web.Contents',
  DuckDB: 'read_csv',
  Polars: 'pl.read_csv',
};

/** By the arrow keys, to the last tool and back to the first. The tab that is open is printed, with its code and without the others. */
async function openTools(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await page.getByRole('tab', { name: 'curl', selected: true }).focus();
  const panel = page.getByRole('tabpanel');
  for (const [tool, code] of Object.entries(tools)) {
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: tool, exact: true, selected: true }).waitFor();
    await panel.getByText(code).waitFor();
    await visitor.look(`series-code-${tool}`);
  }
  await page.emulateMedia({ media: 'print' });
  assertSame(
    await page
      .getByRole('tab')
      .allInnerTexts()
      .then((names) => names.filter(Boolean).join()),
    'Polars',
    'the printed tab',
  );
  assert(await panel.getByText('pl.read_csv').isVisible(), 'the code of the tab is printed');
  await visitor.look('series-code-print');
  await page.emulateMedia({ media: 'screen' });
  await page.keyboard.press('ArrowRight');
  await page.getByRole('tab', { name: 'curl', selected: true }).waitFor();
  await page.getByRole('tab', { name: 'curl' }).evaluate('scrollTo(0, 0)');
}

/** A transform, an earlier vintage and a window. @returns the query of the page, which is that of the API. */
async function shape(stage: Stage, page: Page): Promise<string> {
  const { data: vintages } = await readApi<Vintages>(stage, '/v1/series/DEMO.CPI/vintages?sort=-vintage');
  const earlier = vintages[2]?.vintage ?? '';
  await page.getByLabel('Transform').selectOption('yoy');
  await page.waitForURL(/transform=yoy/);
  await page.getByLabel('As of').selectOption(earlier);
  await page.waitForURL(`**vintage=${earlier}*`);
  await page.locator('[aria-busy=false] figcaption', { hasText: 'As published by' }).waitFor();
  const first = page.getByRole('slider', { name: 'First period shown' });
  await first.focus();
  for (let years = 0; years < 3; years += 1) await page.keyboard.press('PageUp');
  await page.waitForURL(/from=/);
  await dragLast(page);
  await page.waitForURL(/to=/);
  return new URL(page.url()).search.slice(1);
}

/** Moves the end of the window by the pointer, a third of the way back. */
async function dragLast(page: Page): Promise<void> {
  const handle = page.getByRole('slider', { name: 'Last period shown' });
  await handle.scrollIntoViewIfNeeded();
  const [box, whole] = [await handle.boundingBox(), await page.locator('.brush').boundingBox()];
  assert(box !== null && whole !== null, 'the brush is there');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - whole.width / 6, y, { steps: 4 });
  await page.mouse.move(x - whole.width / 3, y, { steps: 4 });
  await page.mouse.up();
}

async function showTable(page: Page): Promise<void> {
  await page.getByText('Table', { exact: true }).first().click();
  await page.waitForURL(/view=table/);
  await page.getByRole('region', { name: 'Values', exact: true }).waitFor();
}

/** The citation is that of the API, and the data at its address match its checksum. */
async function cite(stage: Stage, visitor: Visitor, view: string): Promise<void> {
  const { page } = visitor;
  const { data } = await readApi<{ data: { url: string; sha256: string } }>(
    stage,
    `/v1/series/DEMO.CPI/cite?${view}`,
  );
  await page.getByRole('button', { name: 'Cite' }).click();
  await page.getByText(`SHA-256 of the CSV: ${data.sha256}`).waitFor();
  await visitor.look('series-cite');
  await page.getByRole('tab', { name: 'BibTeX' }).click();
  await page.getByText('@misc{DEMO.CPI-').waitFor();
  const { pathname, search } = new URL(data.url);
  const csv = await readCsv(stage, pathname + search);
  assertSame(createHash('sha256').update(csv).digest('hex'), data.sha256, 'the bytes at the cited address');
  await page.getByRole('button', { name: 'Close' }).click();
}

/** The command runs in a shell, and the file is that of the API. */
async function runCopiedCommand(stage: Stage, page: Page, view: string, data: Observation[]): Promise<void> {
  await page.getByRole('tab', { name: 'curl', selected: true }).waitFor();
  await page.getByRole('button', { name: 'Copy the code' }).click();
  const command = await page.evaluate<string>('navigator.clipboard.readText()');
  assert(!command.includes(stage.apiKey), 'the key is not in the command');
  const { stdout } = await promisify(execFile)('sh', ['-c', command], {
    env: { ...process.env, ALMANAC_KEY: stage.apiKey },
  });
  const answer = JSON.parse(stdout) as { data: Observation[] };
  assertSame(JSON.stringify(answer.data), JSON.stringify(data), 'the points of the copied command');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ]);
  assertSame(
    await readFile(await download.path(), 'utf8'),
    await readCsv(stage, `/v1/series/DEMO.CPI?${view}&format=csv`),
    'the CSV',
  );
  assertSame(download.suggestedFilename(), 'DEMO.CPI.csv', 'its name');
}
