// A visitor is led to sign in, follows a series, a source and a search, is mailed a change, and ends the e-mails by the links in it.
import { assert, assertFocused, assertSame, newPerson, signIn, signUp } from '../../people.ts';
import type { Visitor } from '../../browser.ts';
import type { Stage } from '../../stage.ts';
import type { Walk } from '../../walks.ts';

export const following: Walk = {
  name: 'follow a series, get an e-mail, unsubscribe',
  run: walk,
};

let walked = 0;
const gatheredMs = 61_000;

async function walk(stage: Stage, visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const { services, mailbox, url } = stage;
  walked += 1;
  const id = `FERRY.${walked}`;
  const name = `Passengers of ferries, line ${walked}`;
  const source = `Office of ferries ${walked}`;
  const load = (period: string) =>
    services.ingest(`series_id,name,date,value\n${id},"${name}",${period},1\n`, { set: { source } });
  await load('2026-01');
  const person = newPerson();
  await signUp(stage, visitor, person, '/dashboard/following');
  await page.getByText('You are not following anything yet').waitFor();
  await visitor.look('following-empty');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are signed out').waitFor();

  await visitor.open(`/series/${id}`);
  const button = page.getByRole('button', { name: `Follow ${name}`, exact: true });
  await button.click();
  await signIn(page, person);
  await page.getByRole('heading', { name }).waitFor();
  await button.click();
  await page.getByRole('button', { name: `Following ${name}` }).waitFor();
  await visitor.look('series-followed');

  await visitor.open(`/catalogue?source=${encodeURIComponent(source)}`);
  await page.getByRole('button', { name: `Follow the source ${source}` }).click();
  await page.getByRole('button', { name: `Following the source ${source}` }).waitFor();
  await visitor.look('catalogue-followed');
  await visitor.open(`/catalogue?q=ferries`);
  await page.getByRole('button', { name: 'Follow the search ferries' }).click();
  await page.getByRole('button', { name: 'Following the search ferries' }).waitFor();

  await visitor.open('/dashboard/following');
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await page.getByLabel('E-mails about ferries').selectOption('daily');
  await saved;
  await page.reload();
  await page.getByText('since').nth(2).waitFor();
  assertSame(await page.getByLabel('E-mails about ferries').inputValue(), 'daily', 'the mode after a reload');
  await visitor.look('following');

  await load('2026-02');
  await stage.advance(gatheredMs);
  const mail = await mailbox.next(person.email, `${name}: 1 new value`);
  const [ofOne, ...others] = [...mail.text.matchAll(/\S+\/dashboard\/unsubscribe#token=\S+/g)].map(
    ([link]) => link,
  );
  const ofAll = others.at(-1);
  assert(ofOne !== undefined && ofAll !== undefined, 'the e-mail has both links');
  assert(mail.text.includes(`${url}/series/${id}`), 'the e-mail leads to the series');
  await page.goto(ofOne);
  await page.getByRole('heading', { name: 'Stop these e-mails' }).waitFor();
  assertSame(new URL(page.url()).hash, '', 'the fragment of the address');
  await visitor.look('unsubscribe');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('heading', { name: 'These e-mails have stopped' }).waitFor();
  await visitor.look('unsubscribed');
  await page.getByRole('link', { name: 'Everything that you follow' }).click();
  await page
    .getByRole('button', { name: /^Stop following/ })
    .nth(1)
    .waitFor();
  assertSame(
    await page.getByRole('button', { name: /^Stop following/ }).count(),
    2,
    'follows after one has ended',
  );
  await page.getByRole('button', { name: 'Stop following ferries' }).press('Enter');
  await page.getByRole('button', { name: 'Stop following ferries' }).waitFor({ state: 'detached' });
  await assertFocused(page, 'its row was removed');

  // Like a mail program that follows the header: opening the link in a browser does not end anything.
  const header = /^List-Unsubscribe: <(\S+)>/im.exec(mail.raw.replaceAll(/\r\n[ \t]+/g, ' '))?.[1] ?? '';
  await page.goto(header);
  await page.getByRole('button', { name: 'Stop all' }).waitFor();
  await page.getByRole('button', { name: 'Stop all' }).click();
  await page.getByText('You no longer follow anything').waitFor();
  await visitor.open('/dashboard/following');
  await page.getByText('You are not following anything yet').waitFor();
}
