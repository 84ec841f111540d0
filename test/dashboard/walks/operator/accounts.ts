// An operator finds an account, changes its plan, revokes a key, disables and enables it; everybody else finds no such page.
import { createAccount, createKey } from '../../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { recordSecret } from '../../../run/traces.ts';
import { assert, assertSame, newPerson, signIn, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const operator: Walk = {
  name: 'manage the accounts of others as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, call, database } = stage.services;
    const [person, holder] = [newPerson(), newPerson()];
    const { id } = await createAccount(accounts, { email: holder.email, name: 'Held', plan: 'free' });
    const { key } = await createKey(accounts, id, 'laptop');
    recordSecret(key);
    const statusOfKey = async () => (await call('/v1/usage', { key })).status;

    await signUp(stage, visitor, person);
    assertSame(await page.getByRole('link', { name: 'All accounts' }).count(), 0, 'links for operators');
    await visitor.open('/dashboard/operator/accounts');
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();

    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    await page.getByRole('link', { name: 'All accounts' }).click();
    await page.getByRole('link', { name: holder.email }).waitFor();
    await page.getByLabel('E-mail address, name or id').fill(holder.email.toUpperCase());
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=/);
    await page.getByRole('link', { name: person.email }).waitFor({ state: 'detached' });
    await visitor.look('operator-accounts');

    await page.getByRole('link', { name: holder.email }).click();
    await page.getByRole('heading', { name: 'Access' }).waitFor();
    await page.getByRole('combobox', { name: 'Plan' }).selectOption({ label: 'Pro' });
    await page.getByRole('button', { name: 'Set the plan' }).click();
    await page.getByText('of 250,000 calls').waitFor();
    assertSame((await accounts.db.accounts.findByPk(id))?.plan, 'pro', 'the plan');
    await visitor.look('operator-account');

    assertSame(await statusOfKey(), 200, 'the key');
    await page.getByRole('button', { name: 'Revoke laptop' }).click();
    await page.getByLabel('Type “laptop” to confirm').fill('laptop');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByText('Revoked', { exact: true }).waitFor();
    assertSame(await statusOfKey(), 401, 'the revoked key');

    await page.getByRole('button', { name: 'Disable the account' }).click();
    await page.getByLabel(`Type “${holder.email}” to confirm`).fill(holder.email);
    await page.getByRole('dialog').getByRole('button', { name: 'Disable the account' }).click();
    await page.getByRole('button', { name: 'Enable the account' }).click();
    await page.getByRole('button', { name: 'Disable the account' }).waitFor();
    assertSame((await accounts.db.accounts.findByPk(id))?.status, 'active', 'the status');

    await database.query(`update accounts.sessions set auth_time = auth_time - interval '16 minutes'`);
    visitor.expectStatus(401);
    await page.getByRole('link', { name: 'All plans' }).click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await visitor.look('operator-sign-in-again');
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await page.getByText('needs a recent sign-in').waitFor();
    await signIn(page, person);
    await page.getByRole('heading', { name: 'All plans' }).waitFor();
    await page.getByRole('cell', { name: 'Enterprise' }).waitFor();
    await visitor.look('operator-plans');
    assert(page.url().endsWith('/dashboard/operator/plans'), 'the operator is back');
  },
};
