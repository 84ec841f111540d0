// Common actions of visitors in the walks: sign up, sign in, create a key; and the answers of the API, to compare a page with.
import type { Page } from 'playwright-core';
import { recordSecret } from '../run/traces.ts';
import { newPassword, tokenIn } from '../services/sign-in.ts';
import type { Visitor } from './browser.ts';
import type { Stage } from './stage.ts';

export interface Person {
  email: string;
  password: string;
}

let people = 0;

/** Somebody whom no walk knows yet. */
export function newPerson(): Person {
  people += 1;
  return { email: `visitor-${people}@example.org`, password: newPassword() };
}

/** Signs up by the page and the link in the e-mail. The visitor is then on the overview, or on the page that was requested. */
export async function signUp(
  { mailbox, url }: Stage,
  visitor: Visitor,
  person: Person,
  requested = '/dashboard',
): Promise<void> {
  const { page } = visitor;
  await visitor.open(`/sign-up?return_to=${encodeURIComponent(requested)}`);
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Create an account' }).click();
  await page.getByRole('heading', { name: 'Open the link in your e-mail' }).waitFor();
  const token = tokenIn(await mailbox.next(person.email));
  await page.evaluate('sessionStorage.clear()'); // the link opens a new tab
  await page.goto(`${url}/dashboard/verify-email#token=${token}`);
  await page.getByLabel('Password').fill(person.password);
  assert(!page.url().includes(token), 'the token is out of the URL');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.waitForURL(url + requested);
  if (requested === '/dashboard') await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Fills the form of the sign-in page, on which the visitor is. */
export async function signIn(page: Page, { email, password }: Person): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Makes a key by its dialog, and leaves it. @returns the key. @param during is done while the key is shown. */
export async function makeKey(
  page: Page,
  name: string,
  during: (key: string) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  const key = recordSecret((await dialog.locator('[data-test=secret]').textContent()) ?? '');
  assert(key.startsWith('pk_live_'), 'the key is shown');
  assert(!page.url().includes(key), 'the key is not in the URL');
  await during(key);
  await dialog.getByLabel('I have stored this key').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });
  return key;
}

/** The answer of the API to the visitor's session. @throws Error if it is not 2xx. */
export async function askApi(visitor: Visitor, target: string): Promise<unknown> {
  const stored = await visitor.page.evaluate<string>("sessionStorage.getItem('almanac.session')");
  const { token } = JSON.parse(stored) as { token: string };
  recordSecret(token.split('.')[1] ?? '');
  const { origin } = new URL(visitor.page.url());
  const response = await fetch(origin + target, { headers: { 'x-session-token': token } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${target} answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

/** @throws Error that names the false statement. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`Not so: ${what}.`);
}

/** @throws Error with both where they differ. */
export function assertSame(found: unknown, expected: unknown, what: string): void {
  if (found !== expected)
    throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}.`);
}

/** @throws Error if a keyboard user would begin at the top of the page again. */
export async function assertFocused(page: Page, after: string): Promise<void> {
  const focused = await page.evaluate<string>('document.activeElement.tagName');
  assert(focused !== 'BODY', `the focus is on the page after ${after}`);
}

/** The number in a text of the page. */
export async function numberIn(page: Page, selector: string): Promise<number> {
  const text = (await page.locator(selector).first().textContent()) ?? '';
  return Number(/[\d,]+/.exec(text)?.[0].replaceAll(',', '') ?? Number.NaN);
}
