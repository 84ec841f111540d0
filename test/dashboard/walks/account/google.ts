// Google, played by a real OpenID server: a stranger signs in by it, and again after an hour, to set a password.
import { newPassword } from '../../../services/sign-in.ts';
import { assert } from '../../people.ts';
import type { Walk } from '../../walks.ts';

let strangers = 0;

export const google: Walk = {
  name: 'sign in with Google',
  async run({ services: { database } }, visitor) {
    const { page } = visitor;
    strangers += 1;
    await visitor.open('/dashboard/security');
    await page.getByText('Sign in to see this page').waitFor();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
    await visitor.look('sign-in');
    await page.getByRole('link', { name: 'Continue with Google' }).click();
    await page.locator('input[name=login]').fill(`walker${strangers}`);
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').click();
    await page.locator('button[type=submit]').click(); // the consent
    await page.getByRole('heading', { name: 'Security' }).waitFor();
    await page.getByText('Linked').waitFor();
    assert(!page.url().includes('google_code'), 'the code is out of the URL');
    assert(
      await page.getByRole('button', { name: 'Unlink Google' }).isDisabled(),
      'the only way in is not taken away',
    );
    await visitor.look('security-google');
    await database.query(`update accounts.sessions set auth_time = auth_time - interval '61 minutes'`);
    visitor.expectStatus(401);
    await page.getByLabel('New password').fill(newPassword());
    await page.getByRole('button', { name: 'Set a password' }).click();
    await page.getByText('You signed in more than an hour ago').waitFor();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await page.getByText('needs a recent sign-in').waitFor();
    await page.getByRole('link', { name: 'Continue with Google' }).waitFor();
  },
};
