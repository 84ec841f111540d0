// Names and texts chosen by others, on every page that shows them: each stays text and never runs, adds an element, or widens the page.
import { Readable } from 'node:stream';
import { createAccount, createKey } from '../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../accounts-api/operator/account-access.ts';
import { acceptUnderEmbargo } from '../../../ingest/publisher/releases/accept.ts';
import { insertSource } from '../../../ingest/publisher/sources/sources.sql.ts';
import { recordSecret } from '../../run/traces.ts';
import type { Receiver } from '../../webhooks/receiver.ts';
import type { Visitor } from '../browser.ts';
import { refreshSearch } from '../../migrations/search-entries.ts';
import { addEndpoint, sendTestEvent, withReceiver } from '../endpoint-steps.ts';
import { assert, newPerson, signUp } from '../people.ts';
import type { Stage } from '../stage.ts';
import type { Walk } from '../walks.ts';

const markup = `"><img data-hostile src=x onerror=alert(1)>`;
const script = `<script data-hostile>alert(2)</script>`;
const rightToLeft = 'שלום עולם \u202e\u2066txt.exe';
const longWord = 'W'.repeat(60);
/** For fields in which the API or a load accepts any text. */
const hostile = `${markup}${script} ${rightToLeft} ${longWord}`;
const longName = `${hostile} `.padEnd(300, 'Long name ').trim();
/** A name of an account or a key: 100 characters, and no mark that turns the direction. */
const hostileName = `<img data-hostile src=x onerror=alert(3)> שלום ${'N'.repeat(50)}`;
const csvText = (text: string) => `"${text.replaceAll('"', '""')}"`;

export const hostileNames: Walk = {
  name: 'see hostile names on every page',
  run: withReceiver(walk),
};

async function walk(stage: Stage, visitor: Visitor, receiver: Receiver): Promise<void> {
  const { page, width } = visitor;
  const { accounts } = stage.services;
  page.on('dialog', (dialog) => {
    visitor.report(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  /** 120 characters without a break. */
  const series = `WALK.HOSTILE.${width}`.padEnd(120, 'X');
  const person = newPerson();
  await signUp(stage, visitor, person);
  const own = await accounts.db.accounts.findOne({ where: { email: person.email } });
  assert(own !== null, 'the account is there');
  await setRole(accounts, person.email, 'operator');
  await stage.services.setPlan(own.id, 'pro');
  await stage.services.database.query(`update accounts.accounts set name = $1 where id = $2`, [
    hostileName,
    own.id,
  ]);
  recordSecret((await createKey(accounts, own.id, hostileName)).key);
  const email = `${'w'.repeat(60)}-${width}@${'example'.repeat(8)}.example.org`;
  const otherAccount = await createAccount(accounts, { email, name: hostileName, plan: 'free' });
  recordSecret((await createKey(accounts, otherAccount.id, hostileName)).key);
  const { load, release } = await loadHostile(stage, series, width);

  const upload = await uploadHostile(
    visitor,
    `${markup.replace('"', '')} ${rightToLeft.slice(0, 9)} ${longWord}.csv`,
  );
  await see(visitor, [
    ['/dashboard', hostileName, 'overview'],
    ['/dashboard/keys', hostileName, 'keys'],
    ['/dashboard/operator/accounts', hostileName, 'operator-accounts'],
    [`/dashboard/operator/accounts/${otherAccount.id}`, hostileName, 'operator-account'],
    ['/dashboard/operator/loads', longWord, 'operator-loads'],
    [`/dashboard/operator/loads/${load}`, longWord, 'operator-load'],
    ['/dashboard/operator/releases', longWord, 'operator-releases'],
    [`/dashboard/operator/releases/${release}`, longWord, 'operator-release'],
    ['/dashboard/operator/sources', longWord, 'operator-sources'],
    [`/dashboard/operator/facts?q=${series}&facts=unit,source`, longWord, 'operator-facts'],
    [upload, longWord, 'operator-upload'],
    [`/series/${series}`, longWord, 'series'],
    [`/series/${series}?view=table`, longWord, 'series-table'],
    [`/series/${series}/revisions`, longWord, 'revisions'],
    [`/compare?s=${series}`, longWord, 'compare'],
    [`/compare?s=${series}&view=table`, longWord, 'compare-table'],
    ['/', series, 'home'],
    ['/status', longWord, 'status'],
    [`/catalogue?q=${series}`, longWord, 'catalogue'],
    ['/calendar', longWord, 'calendar'],
  ]);
  await seePlans(visitor);
  await seeDelivery(visitor, receiver);
}

/** A series, a release under embargo, a source that fails and an entry of the calendar. */
async function loadHostile(
  { services: { database, ingest }, clock }: Stage,
  series: string,
  width: number,
): Promise<{ load: string; release: string }> {
  const set = { name: longName, unit: `${markup} ${longWord}`, source: hostile };
  // The front page omits a series whose last value is old.
  const [before, last] = [2, 1].map((ago) => {
    const today = clock.now();
    return new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago)).toISOString().slice(0, 7);
  });
  await ingest(`series_id,date,value,side\n${series},${before},1000000000000000,${csvText(hostile)}\n${series},${last},-2500000000000000.25,${csvText(hostile)}\n`, { set }); // prettier-ignore
  await database.query(`update data.series set description = $1 where series_id = $2`, [hostile, series]);
  await refreshSearch(database);
  const [load] = await database.query<{ load_no: string }>(
    `update data.loads set source_name = $1 where load_no = (select max(load_no) from data.loads) returning load_no::text`,
    [`${hostile}.csv`],
  );
  const options = {
    ...{ dataset: 'observations', input: Readable.from([`series_id,date,value\n${series}.R,2024-01,101\n`]) },
    ...{
      sourceName: `${hostile}.csv`,
      create: true,
      set: { ...set, frequency: 'monthly' },
      seriesTimeZone: 'UTC',
    },
  };
  const instant = `${clock.now().getUTCFullYear() + 1}-01-15T10:00:00Z`;
  const { releaseNo } = await acceptUnderEmbargo(database, options, { instant });
  const path = `<img data-hostile>${longWord}-${width}`;
  await database.transaction((on) =>
    insertSource(on, {
      ...{
        name: `hostile-${width}`,
        publication: 'walks',
        url: `https://example.org/${path}.csv`,
        sheet: hostile,
      },
      ...{
        entry: { file: 'x' },
        schedule: 'daily',
        at: clock.now(),
        fetchAt: new Date('2100-01-01T00:00:00Z'),
      },
    }),
  );
  await database.query(
    `update embargo.sources set failures = 2, failing_since = now(), fetched_at = now(),
       outcome = jsonb_build_object('result', 'failed', 'message', $1::text) where name = $2`,
    [hostile, `hostile-${width}`],
  );
  await database.query(
    `insert into data.releases (release_id, title, source, release_at, time_zone, series_ids, url)
     values ($1, $2, $2, $3, 'UTC', array[$4], 'https://example.org/x')`,
    [`hostile-${width}`, hostile, clock.now(), series], // the calendar shows the month of today
  );
  return { load: load?.load_no ?? '', release: String(releaseNo) };
}

/** @returns the path of its page. */
async function uploadHostile(visitor: Visitor, name: string): Promise<string> {
  const { page } = visitor;
  await visitor.open('/dashboard/operator/publish');
  const months = Array.from(
    { length: 24 },
    (_, i) => `20${23 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}`,
  );
  const csv = `Date,${csvText(hostile)}\n${months.map((month, at) => `${month},${2000 + at}.5\n`).join('')}`;
  await page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(csv) });
  await page.waitForURL(/\/operator\/publish\/[0-9a-f-]{36}$/);
  return new URL(page.url()).pathname;
}

/** Opens each page, waits for the text, and checks that it is only text. */
async function see(visitor: Visitor, pages: readonly (readonly [string, string, string])[]): Promise<void> {
  for (const [target, text, name] of pages) {
    await visitor.open(target);
    await requireText(visitor, text, name);
  }
}

async function requireText(visitor: Visitor, text: string, name: string): Promise<void> {
  const { page } = visitor;
  await page.getByText(text).first().waitFor({ state: 'attached' });
  await visitor.look(`hostile-${name}`);
  const made = await page.locator('[data-hostile]').count();
  if (made > 0) visitor.report(`${made} elements that a text made on ${name}`);
}

/** Plans are the operator's own file: the API's answer is changed on its way. */
async function seePlans(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  await page.route(/\/v1\/(?:operator\/)?plans/, async (route) => {
    const response = await route.fetch();
    const text = (await response.text()).replaceAll(/"name":"[^"]*"/g, `"name":${JSON.stringify(hostile)}`);
    await route.fulfill({ response, body: text });
  });
  await see(visitor, [
    ['/plans', longWord, 'plans'],
    ['/dashboard/operator/plans', longWord, 'operator-plans'],
    ['/dashboard/billing', longWord, 'billing'],
  ]);
  await page.unroute(/\/v1\/(?:operator\/)?plans/);
}

/** An endpoint with a hostile address and description, and its answer. */
async function seeDelivery(visitor: Visitor, receiver: Receiver): Promise<void> {
  const { page } = visitor;
  receiver.answer((_request, response) =>
    response
      .writeHead(500, { 'retry-after': '3600', 'content-type': 'text/html' })
      .end(`${hostile}\n${script}`),
  );
  await visitor.open('/dashboard/webhooks?create=endpoint');
  const dialog = page.getByRole('dialog');
  await dialog
    .getByLabel('Address')
    .fill(`${receiver.url}/<img data-hostile>?${longWord}=${longWord}`.replaceAll(' ', '/'));
  await dialog.getByLabel('Description (optional)').fill(`${markup}${script} ${longWord}`);
  await dialog.getByRole('checkbox', { name: 'key.created' }).check();
  await addEndpoint(visitor);
  await sendTestEvent(visitor, () => requireText(visitor, longWord, 'webhook-manage'));
  await receiver.next();
  await page.getByRole('button', { name: 'webhook.test' }).click();
  await requireText(visitor, 'alert(2)', 'delivery');
}
