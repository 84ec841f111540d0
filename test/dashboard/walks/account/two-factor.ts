// Two-factor sign-in: set up, used to sign in, and turned off by a recovery code.
import { codeAt, wrongCodeAt } from '../../../auth/authenticator.ts';
import { recordSecret } from '../../../run/traces.ts';
import { assertSame, newPerson, signIn, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

const stepMs = 30_000;

export const twoFactor: Walk = {
  name: 'set up an authenticator app, sign in with it, and turn it off',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    await signUp(stage, visitor, person);
    await page.getByRole('link', { name: 'Security' }).click();
    const section = page.getByRole('region', { name: 'Two-factor sign-in' });
    await section.getByText('Off', { exact: true }).waitFor();
    await section.getByRole('button', { name: 'Set up an authenticator app' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your password').fill(person.password);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('img', { name: 'QR code' }).waitFor();
    const secret = recordSecret((await dialog.locator('[data-test=totp-secret]').textContent()) ?? '');
    await visitor.look('two-factor-scan');
    const confirmedAt = stage.clock.now();
    await dialog.getByLabel('Code that the app shows').fill(codeAt(secret, confirmedAt));
    await dialog.getByRole('button', { name: 'Turn on' }).click();

    await page.getByRole('heading', { name: 'Store your recovery codes now' }).waitFor();
    const codes = ((await dialog.locator('[data-test=secret]').textContent()) ?? '').split('\n');
    for (const code of codes) recordSecret(code);
    assertSame(codes.length, 10, 'the recovery codes');
    await visitor.look('two-factor-codes');
    await dialog.getByLabel('I have stored this list of codes').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await section.getByText('10 recovery codes left').waitFor();
    await page.getByText('Two-factor sign-in turned on').first().waitFor();
    await visitor.look('two-factor-on');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await signIn(page, person);
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    const focused = await page.evaluate<string | null>('document.activeElement.name');
    assertSame(focused, 'code', 'the field with the focus');
    const stored = await page.evaluate<string | null>("sessionStorage.getItem('almanac.session')");
    assertSame(stored, null, 'the session before the code');
    visitor.expectStatus(401);
    await page.getByLabel('Code').fill(wrongCodeAt(secret, stage.clock.now()));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await visitor.look('two-factor-sign-in');
    // The code of the next time step, as that of this one may have confirmed the app.
    const next = new Date(Math.max(stage.clock.now().getTime(), confirmedAt.getTime() + stepMs));
    await page.getByLabel('Code').fill(codeAt(secret, next));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();

    await page.getByRole('link', { name: 'Security' }).click();
    await section.getByRole('button', { name: 'Turn off' }).click();
    await dialog.getByLabel('Your password').fill(person.password);
    await dialog.getByLabel('Code').fill(codes[0] ?? '');
    await visitor.look('two-factor-turn-off');
    await dialog.getByRole('button', { name: 'Turn off' }).click();
    await section.getByText('Off', { exact: true }).waitFor();
    for (const what of ['turned on', 'turned off'])
      await stage.mailbox.next(person.email, `Two-factor sign-in was ${what}`);
  },
};
