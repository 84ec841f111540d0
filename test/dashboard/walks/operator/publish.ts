// An operator publishes a file: the detected facts are corrected, checked and published; a second edition waits under embargo.
import { createAccount, createKey } from '../../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { recordSecret } from '../../../run/traces.ts';
import { assert, assertSame, newPerson, signIn, signUp } from '../../people.ts';
import type { Visitor } from '../../browser.ts';
import type { Walk } from '../../walks.ts';

const months = Array.from(
  { length: 24 },
  (_, i) => `20${23 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`,
);

/** An edition of the file, with the value of its last month. */
const edition = (last: number, count: number) =>
  `Date,Price\n${months
    .slice(0, count)
    .map((month, at) => `${month},${at === count - 1 ? last : 2000 + at}.5\n`)
    .join('')}`;

export const operatorPublish: Walk = {
  name: 'publish a file as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, call } = stage.services;
    const person = newPerson();
    const name = `gold-${visitor.width}.csv`;
    const { id } = await createAccount(accounts, { email: newPerson().email, plan: 'pro' });
    const { key } = await createKey(accounts, id, 'reader');
    recordSecret(key);

    await signUp(stage, visitor, person);
    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    for (const list of ['Loads', 'Releases']) {
      await page.getByRole('link', { name: list, exact: true }).click();
      await page.getByRole('heading', { name: list, exact: true }).waitFor();
      await page.locator('.head').getByRole('link', { name: 'Publish a file' }).click();
      await page.getByText('or drop it here').waitFor();
    }
    await visitor.look('operator-publish');
    await refused(visitor);
    await picked(visitor);
    await askedPerColumn(visitor, async (series) => (await call(`/v1/series/${series}`, { key })).json);

    await choose(visitor, name, edition(2100, 23));
    await page.getByRole('heading', { name, exact: true }).waitFor();
    await page.getByText('The publisher of the values is not given in the file or its metadata.').waitFor();
    for (const fact of ['Unit', 'Source'])
      assertSame(
        await page.getByLabel(fact).inputValue(),
        '',
        `the field of ${fact}, which nobody has stated`,
      );
    const found = page.getByRole('row').filter({ hasText: 'series.unit' });
    assertSame(await found.count(), 0, 'rows of a unit that the file does not state');
    await visitor.look('operator-upload');
    await page.getByLabel('Unit').fill('Dollars per ounce');
    await page.getByLabel('Source').fill('Price Office');
    await stage.services.database.query(
      `update accounts.sessions set auth_time = auth_time - interval '16 minutes'`,
    );
    visitor.expectStatus(401);
    await page.getByRole('button', { name: 'Check what it changes' }).click();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await signIn(page, person);
    await page.getByRole('heading', { name, exact: true }).waitFor();
    assertSame(await page.getByLabel('Unit').inputValue(), 'Dollars per ounce', 'the unit after the sign-in');

    await page.getByRole('button', { name: 'Check what it changes' }).click();
    await page.getByRole('heading', { name: 'Publish', exact: true }).waitFor();
    assertSame(await page.locator('[data-test=new]').textContent(), '23', 'new points');
    await visitor.look('operator-upload-checked');
    await page.getByLabel('Unit').fill('USD per ounce');
    await page.getByRole('heading', { name: 'Publish', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Check what it changes' }).click();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByRole('heading', { name: 'Published' }).waitFor();
    const series = (await page.locator('.ids a').first().textContent()) ?? '';
    const { json } = await call(`/v1/series/${series}`, { key });
    const { meta, data } = json as { meta: { unit: string; source: string }; data: { value: number }[] };
    assertSame(meta.unit, 'USD per ounce', 'the unit');
    assertSame(meta.source, 'Price Office', 'the source');
    assertSame(data.at(-1)?.value, 2100.5, 'the last value');
    assertSame(
      await page.getByRole('button', { name: 'Discard the file' }).count(),
      0,
      'buttons that discard',
    );
    await visitor.look('operator-published');

    const lastValue = async () => {
      const answer = await call(`/v1/series/${series}/latest`, { key });
      return JSON.stringify(answer.json);
    };
    const before = await lastValue();
    await page.getByRole('link', { name: 'Publish another file' }).click();
    await drop(visitor, name, edition(2200, 24));
    await page.getByLabel('Unit').fill('USD per ounce');
    await page.getByLabel('Source').fill('Price Office');
    await page.getByRole('button', { name: 'Check what it changes' }).click();
    await page.getByRole('heading', { name: 'The largest changes' }).waitFor();
    await page.getByText('At a time', { exact: true }).click();
    await page.getByLabel('Release time (UTC)').fill(`${new Date().getUTCFullYear() + 1}-01-15T10:00`);
    await visitor.look('operator-upload-embargo');
    await page.getByRole('button', { name: 'Schedule the release' }).click();
    await page.getByRole('heading', { name: 'Under embargo' }).waitFor();
    assertSame(await lastValue(), before, 'the newest value while the file is under embargo');
    await page.getByRole('link', { name: /^release \d+$/ }).click();
    await page.locator('[data-test=state]').getByText('Under embargo').waitFor();
  },
};

/** A file whose dates have two readings: a choice by the keyboard changes the rows and the entry, and can be undone. */
async function picked(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const days = Array.from(
    { length: 12 },
    (_, at) => `01/${String(at + 1).padStart(2, '0')}/2023,${at + 1}\n`,
  );
  await choose(visitor, `dates-${visitor.width}.csv`, `Date,Rate\n${days.join('')}Total,78\n`);
  const rows = page.getByRole('table', { name: /as they will be served/ });
  const second = async () => (await rows.getByRole('row').nth(2).textContent()) ?? '';
  await rows.waitFor();
  assert((await second()).includes('2 Jan 2023'), 'the second row is of 2 January');
  await page.getByText('line 14, “Total, 78”').waitFor();
  await visitor.look('operator-upload-choices');
  await page.getByText('2 guesses to confirm.').waitFor();
  await page.getByRole('button', { name: 'Confirm all' }).click();
  await page.getByRole('radio', { name: '2 January 2023 (M/D/YYYY)' }).focus();
  await page.keyboard.press('ArrowDown');
  await rows.getByText('28 Feb 2023', { exact: true }).waitFor();
  assert(await page.getByRole('radio', { name: /^1 February 2023/ }).isChecked(), 'the pick is shown');
  const found = page.getByRole('table', { name: 'What was found, guesses first' });
  await found.getByText('1 February 2023 (D/M/YYYY)').waitFor();
  const entry = await page.getByLabel('Entry (YAML)').inputValue();
  assert(entry.includes('format: D/M/YYYY'), 'the entry has the pick');
  await page.getByRole('heading', { name: 'Publish', exact: true }).waitFor();
  await visitor.look('operator-upload-picked');
  await page.keyboard.press('ArrowUp');
  await rows.getByText('2 Jan 2023', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Discard the file' }).click();
  await page.getByText('or drop it here').waitFor();
}

/** A file of two columns without units: each has a field, and its guess must be confirmed before publication. */
async function askedPerColumn(visitor: Visitor, served: (series: string) => Promise<unknown>): Promise<void> {
  const { page } = visitor;
  const twice = months.slice(0, 12).map((month, at) => `${month},${at},${100 + at}\n`);
  const name = `accounts-${visitor.width}.csv`;
  await choose(visitor, name, `Date,Level,Index\n${twice.join('')}Total,66,1266\n`);
  await page.getByLabel('Unit of Level').fill('USD billion');
  await page.getByLabel('Unit of Index').fill('2020 = 100');
  await page.getByLabel('Source').fill('Statistics Office');
  await page.getByLabel('Name').fill('National accounts');
  await page.getByRole('button', { name: 'Check what it changes' }).click();
  await page.getByText('The table can be published once its guesses are confirmed.').waitFor();
  const publish = page.getByRole('button', { name: 'Publish now' });
  assertSame(await publish.count(), 0, 'ways to publish while a guess is open');
  await visitor.look('operator-upload-asked');
  const confirm = page.getByRole('checkbox', { name: 'leave_out is correct' });
  await confirm.check();
  await publish.waitFor();
  await confirm.uncheck();
  await publish.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Confirm all' }).click();
  await publish.click();
  await page.getByRole('heading', { name: 'Published' }).waitFor();
  const metas = [];
  for (const link of await page.locator('.ids a').all()) {
    const { meta } = (await served((await link.textContent()) ?? '')) as { meta: Record<string, string> };
    metas.push([meta['name'], meta['unit'], meta['source']].join(' | '));
  }
  assertSame(
    metas.join('\n'),
    'National accounts, Level | USD billion | Statistics Office\nNational accounts, Index | 2020 = 100 | Statistics Office',
    'the names, units and sources',
  );
  await page.getByRole('link', { name: 'Publish another file' }).click();
  await page.getByText('or drop it here').waitFor();
}

/** A file with an invalid row: the check names the row, and nothing can be published. */
async function refused(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await choose(visitor, `wrong-${visitor.width}.csv`, edition(2100, 23).replace('2010.5', 'oops'));
  await page.getByRole('button', { name: 'Check what it changes' }).click();
  await page.getByRole('heading', { name: 'Invalid rows' }).waitFor();
  assertSame(await page.getByText('"oops"').count(), 1, 'cells that are reported');
  assertSame(
    await page.getByRole('heading', { name: 'Publish', exact: true }).count(),
    0,
    'ways to publish it',
  );
  await visitor.look('operator-upload-invalid');
  await page.getByRole('button', { name: 'Discard the file' }).click();
  await page.getByText('or drop it here').waitFor();
}

/** Gives a file to the page, as a click and the dialog of the browser would. */
async function choose({ page }: Visitor, name: string, text: string): Promise<void> {
  const buffer = Buffer.from(text);
  await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
}

/** Drops a file on the page. */
async function drop({ page }: Visitor, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    `(() => { const held = new DataTransfer(); held.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)})); return held; })()`,
  );
  await page.locator('.drop').dispatchEvent('drop', { dataTransfer });
}
