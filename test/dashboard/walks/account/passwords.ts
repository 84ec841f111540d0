// A forgotten password, and a session that ends while somebody is at work.
import type { Page } from 'playwright-core';
import { tokenIn, newPassword } from '../../../services/sign-in.ts';
import { assert, assertFocused, assertSame, newPerson, signIn, signUp, type Person } from '../../people.ts';
import type { Stage } from '../../stage.ts';
import type { Walk } from '../../walks.ts';

export const forgottenPassword: Walk = {
  name: 'forget the password, set a new one, and end other sessions',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    await signUp(stage, visitor, person);
    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.getByText('Signed in').first().waitFor();
    await visitor.look('security');
    const second = await page.context().newPage();
    await second.goto(`${stage.url}/dashboard/keys`);
    await second.getByRole('heading', { name: 'Keys' }).first().waitFor();
    assertSame(second.url(), `${stage.url}/dashboard/keys`, 'a second tab is signed in');
    assertSame((await page.context().cookies()).length, 0, 'the cookies');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await second.waitForURL((url) => url.pathname === '/sign-in');
    await second.close();
    await visitor.open('/dashboard/usage?range=7d');
    await page.getByText('Sign in to see this page').waitFor();
    visitor.expectStatus(401);
    await signIn(page, { ...person, password: 'not the password' });
    await page.getByRole('alert').waitFor();
    await visitor.look('sign-in-refused');

    await page.getByRole('link', { name: 'Forgot the password?' }).click();
    await page.getByLabel('E-mail address').fill(person.email);
    await visitor.look('forgot-password');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('If there is an account').waitFor();
    const token = tokenIn(await stage.mailbox.next(person.email, 'Set a new password'));
    await page.goto(`${stage.url}/dashboard/set-password#token=${token}`);
    const changed = { ...person, password: newPassword() };
    await page.getByLabel('New password').fill(changed.password);
    assert(!page.url().includes(token), 'the token is out of the URL');
    await visitor.look('set-password');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByText('Your new password is set').waitFor();
    await signIn(page, changed);
    await page.waitForURL(`${stage.url}/dashboard/usage?range=7d`);
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
    await page.getByText('Key', { exact: true }).click();
    await page.waitForURL(/by=key/);
    await endSessionsOf(stage, changed);
    // The page may notice without an action: then the first refused answer is one that it was still waiting for.
    const ended = page.getByText('Your session has ended');
    await page.getByText('30 days', { exact: true }).or(ended).click();
    await ended.waitFor();
    await visitor.look('sign-in-ended');
    await signIn(page, changed);
    await page.waitForURL(/by=key/);

    await page.getByRole('link', { name: 'Security' }).click();
    await page.getByLabel('Current password').fill(changed.password);
    const newest = { ...person, password: newPassword() };
    await page.getByLabel('New password').fill(newest.password);
    await page.getByRole('button', { name: 'Change the password' }).press('Enter');
    await page.getByText('Done. All other sessions have ended.').waitFor();
    await assertFocused(page, 'a form was sent and emptied');
    await page.getByText('Password changed').first().waitFor();
    const moved = { ...newest, email: newPerson().email };
    await changeAddress(stage, page, moved);
    await page.route('**/auth/logout', async (route) => {
      await endSessionsOf(stage, moved);
      await route.continue();
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
  },
};

/** The link opens a new tab, which gets the session from the other one. */
async function changeAddress(
  { mailbox, url }: Stage,
  page: Page,
  { email, password }: Person,
): Promise<void> {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Your password').fill(password);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`A link is on its way to ${email}`).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${url}/dashboard/verify-email#token=${tokenIn(await mailbox.next(email))}`);
  await tab.getByText('one click confirms it').waitFor();
  await tab.getByRole('button', { name: 'Confirm' }).click();
  await tab.getByRole('heading', { name: 'Overview' }).waitFor();
  await tab.close();
}

/** From another browser, as far as the API sees. */
async function endSessionsOf(
  { services }: Parameters<Walk['run']>[0],
  { email, password }: { email: string; password: string },
): Promise<void> {
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.7' };
  const body = JSON.stringify({ email, password });
  const { json } = await services.call('/auth/login', { method: 'POST', headers, body });
  const { session_token: token } = (json as { data: { session_token: string } }).data;
  await services.call('/auth/sessions', { method: 'DELETE', headers: { 'x-session-token': token } });
}
