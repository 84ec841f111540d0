// Sign up, verify, make a key, call, see the usage move; rotate the key, revoke the old one, and it is refused.
import { recordSecret } from '../../../run/traces.ts';
import { until } from '../../../run/until.ts';
import type { Walk } from '../../walks.ts';
import {
  assert,
  assertFocused,
  assertSame,
  askApi,
  makeKey,
  newPerson,
  numberIn,
  signUp,
} from '../../people.ts';

interface Usage {
  data: { used: number };
}
interface History {
  data: { calls: number; billed: number }[];
}

export const firstKey: Walk = {
  name: 'sign up, make a key, call, rotate, revoke',
  async run(stage, visitor) {
    const { page } = visitor;
    const call = async (key: string) =>
      (await stage.services.call('/v1/series/DEMO.CPI/latest', { key })).status;
    await visitor.open('/sign-up');
    await page.getByLabel('Password').waitFor();
    await visitor.look('sign-up');
    await signUp(stage, visitor, newPerson());
    await page.getByText('Waiting for it').waitFor();
    await visitor.look('overview-new');

    await page.getByRole('link', { name: 'Create a key' }).click();
    const old = await makeKey(page, 'Production', async (key) => {
      const dialog = page.getByRole('dialog');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.mouse.click(5, 400);
      assert(await dialog.isVisible(), 'Esc and a click outside do not close it before the key is stored');
      assert(await dialog.getByRole('button', { name: 'Done' }).isDisabled(), 'Done waits for the box');
      await visitor.look('keys-reveal');
      assertSame(await call(key), 200, 'a call with the new key');
      await dialog.getByText('First call received').waitFor();
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('Received. Last call').waitFor();
    await visitor.look('overview');

    for (let calls = 0; calls < 4; calls += 1) assertSame(await call(old), 200, 'a call');
    await until('the calls are counted', async () => {
      const { data } = (await askApi(visitor, '/v1/usage/history?by=key')) as History;
      return data.reduce((sum, { billed }) => sum + billed, 0) === 5;
    });
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.locator('[data-test=calls]').waitFor();
    assertSame(
      await numberIn(page, '[data-test=used]'),
      ((await askApi(visitor, '/v1/usage')) as Usage).data.used,
      'the calls of the month',
    );
    const { data: days } = (await askApi(visitor, '/v1/usage/history?by=status')) as History;
    const sum = (of: 'calls' | 'billed') => days.reduce((all, day) => all + day[of], 0);
    assertSame(await numberIn(page, '[data-test=calls]'), sum('calls'), 'the calls of 30 days');
    assertSame(await numberIn(page, '[data-test=billed]'), sum('billed'), 'those that counted');

    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Rotate Production' }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    const dialog = page.getByRole('dialog');
    assertSame(await dialog.getByLabel('Name').inputValue(), 'Production 2', 'the suggested name');
    const made = await makeKey(page, 'Production 2');
    assertSame(await call(made), 200, 'a call with the new key beside the old one');
    await page.getByText('The new key was last used').waitFor();
    await visitor.look('keys-rotation');
    await page.reload();
    await page.getByRole('button', { name: 'Revoke “Production”' }).click();
    await dialog.getByLabel('Type “Production” to confirm').fill('Productio');
    assert(
      await dialog.getByRole('button', { name: 'Revoke the key' }).isDisabled(),
      'the name is to be typed in full',
    );
    await visitor.look('keys-revoke');
    await dialog.getByLabel('Type “Production” to confirm').fill('Production');
    await dialog.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('The rotation is complete').waitFor();
    assertSame(await call(old), 401, 'the revoked key');
    assertSame(await call(made), 200, 'the new key');

    await page.getByRole('button', { name: 'Rotate Production 2' }).click();
    await page.getByRole('button', { name: 'Regenerate the secret' }).click();
    await visitor.look('keys-new-value');
    await dialog.getByRole('button', { name: 'Regenerate' }).click();
    const renewed = recordSecret((await dialog.locator('[data-test=secret]').textContent()) ?? '');
    await dialog.getByText('The old secret works until').waitFor();
    await dialog.getByLabel('I have stored this key').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    assertSame([await call(made), await call(renewed)].join(), '200,200', 'both secrets');
    await page.getByText('Old secret valid until').waitFor();
    await visitor.look('keys-old-value');
    await page.getByRole('button', { name: 'Revoke it: the old secret of Production 2' }).press('Enter');
    await page.getByText('Old secret valid until').waitFor({ state: 'detached' });
    await assertFocused(page, 'the button was removed');
    assertSame([await call(made), await call(renewed)].join(), '401,200', 'the new secret only');

    await page.getByRole('button', { name: 'Change Production 2' }).click();
    await dialog.getByText('Limit what the key may do').click();
    await dialog.getByLabel('Read data').uncheck();
    await dialog.getByLabel('Works only from').fill('127.0.0.0/8, 2001:db8::/32');
    await visitor.look('keys-change');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('read, manage · from 127.0.0.0/8, 2001:db8::/32').waitFor();
    await visitor.look('keys-bound');
    assertSame(await call(renewed), 403, 'the key without its scope for data');

    for (const name of ['Second', 'Last']) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await makeKey(page, name, async () => {
        if (name === 'Last') await page.getByText('3 of 3 used').waitFor();
        assert(
          await dialog.isVisible(),
          'the key is shown until it is stored, also the last that is allowed',
        );
      });
    }
  },
};
