// Passkeys: added, used to sign in, renamed and removed, with an authenticator of the browser's own debugger. Browsers accept no IP address, so
// the walk continues at http://localhost, where the pages send it.
import { assert, assertSame, newPerson, signIn, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const passkeys: Walk = {
  name: 'add a passkey, sign in with it, and remove it',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    const debug = await page.context().newCDPSession(page);
    await debug.send('WebAuthn.enable');
    const { authenticatorId } = await debug.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      },
    });
    await signUp(stage, visitor, person);
    await page.getByRole('link', { name: 'Security' }).click();
    const section = page.getByRole('region', { name: 'Passkeys' });
    await section.getByText('Passkeys cannot be used at this address').waitFor();
    await visitor.look('passkeys-elsewhere');
    await section.getByRole('link').click();
    await signIn(page, person);

    await section.getByRole('button', { name: 'Add a passkey' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Laptop');
    await dialog.getByLabel('Your password').fill(person.password);
    await visitor.look('passkeys-add');
    await debug.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('No passkey was used').waitFor();
    await debug.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await section.getByText('never').waitFor();
    await stage.mailbox.next(person.email, 'A passkey was added');
    await section.getByRole('button', { name: 'Rename' }).click();
    await dialog.getByLabel('Name').fill('Work laptop');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await section.getByText('Work laptop', { exact: true }).waitFor();
    await visitor.look('passkeys');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    await visitor.look('passkeys-sign-in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('link', { name: 'Security' }).click();
    await section.getByText('less than a minute ago').waitFor();

    await section.getByRole('button', { name: 'Remove' }).click();
    await dialog.getByLabel('Your password').fill(person.password);
    await visitor.look('passkeys-remove');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await section.getByText('Work laptop', { exact: true }).waitFor({ state: 'detached' });
    await stage.mailbox.next(person.email, 'A passkey was removed');

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You are signed out').waitFor();
    visitor.expectStatus(401);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('The passkey is refused: it is not known here').waitFor();
    assert(page.url().startsWith('http://localhost:'), 'the walk is at localhost');
    const { credentials } = await debug.send('WebAuthn.getCredentials', { authenticatorId });
    assertSame(credentials.length, 1, 'the passkeys of the authenticator');
  },
};
