// Who may call /v1/operator/*: only a session of an operator who has signed in within the last fifteen minutes.
import test from 'ava';
import { setRole, setStatus } from '../../../accounts-api/operator/account-access.ts';
import { endpoints as ofAccounts } from '../../../accounts-api/routes.ts';
import { endpoints as ofData } from '../../../ingest/operator/routes.ts';
import { codeAt } from '../../auth/authenticator.ts';
import { codeOf, dataIn, peopleOf, type Person } from '../../auth/people.ts';
import { recordSecret } from '../../run/traces.ts';
import { fakeClock } from '../../services/harness.ts';
import { startServices } from '../../services/services.ts';

const clock = fakeClock('2026-11-20T10:00:00.000Z');
const services = await startServices({ clock, publisher: true });
const { ask, get, logIn, newPerson, post } = peopleOf(services);
test.after.always(() => services.close());

const minuteMs = 60_000;
const targets = [...ofAccounts, ...ofData]
  .filter(([, path]) => path.startsWith('/v1/operator/'))
  .map(([method, path]) => ({ method, target: path.replaceAll(/:\w+/g, 'x') }));

async function newOperator(): Promise<Person> {
  const person = await newPerson();
  await setRole(services.accounts, person.email, 'operator');
  return person;
}

test.serial(
  'to everybody else the endpoints do not seem to exist: to a session, a key, and an operator’s key',
  async (t) => {
    const [person, operator] = [await newPerson(), await newOperator()];
    const keyOf = async ({ session }: Person) => {
      const { json } = await post('/v1/keys', { name: 'k' }, session);
      return (json as { data: { key: string } }).data.key;
    };
    const keys = [await keyOf(person), await keyOf(operator)];
    const nowhere = (await get('/v1/nowhere', person.session)).json as { error: { message: string } };
    t.true(targets.length >= 13);
    for (const { method, target } of targets) {
      const answers = [
        await ask(method, target, { session: person.session }),
        ...(await Promise.all(keys.map((key) => services.call(target, { method, key })))),
      ];
      for (const { status, json, headers } of answers) {
        t.is(headers.get('ratelimit'), null, 'the gateway refuses it, before it is counted or forwarded');
        t.is(status, 404, `${method} ${target}`);
        t.is((json as typeof nowhere).error.message, nowhere.error.message);
      }
      t.is(codeOf(await ask(method, target)), 'unauthorized', `${method} ${target}`);
    }
  },
);

test.serial(
  'the role applies to the next request of a session, and its removal to the one after',
  async (t) => {
    const { email, session } = await newPerson();
    t.is((await get('/v1/account', session)).status, 200, 'the gateway knows the session as nobody special');
    const status = async () => (await get('/v1/operator/accounts', session)).status;
    t.is(await status(), 404);
    await setRole(services.accounts, email, 'operator');
    t.is(await status(), 200);
    const account = (await get('/v1/account', session)).json as { data: { role: string | null } };
    t.is(account.data.role, 'operator');
    await setRole(services.accounts, email, null);
    t.is(await status(), 404);
    await setRole(services.accounts, email, 'operator');
    await setStatus(services.accounts, email, 'disabled');
    t.is(codeOf(await get('/v1/operator/accounts', session)), 'unauthorized');
  },
);

test.serial(
  'fifteen minutes after a sign-in an operator signs in again, and the session goes on elsewhere',
  async (t) => {
    const { email, password, session } = await newOperator();
    clock.advance(15 * minuteMs);
    t.is((await get('/v1/operator/accounts', session)).status, 200);
    clock.advance(1);
    for (const { method, target } of targets)
      t.is(codeOf(await ask(method, target, { session })), 'reauthentication_required', target);
    t.is((await get('/v1/account', session)).status, 200);
    t.is((await get('/v1/operator/accounts', await logIn(email, password))).status, 200);
  },
);

test.serial('the changes of an operator apply to the next call of the account', async (t) => {
  const operator = await newOperator();
  const { key, accountId } = await services.accountWithKey('free');
  const change = async (body: object) =>
    (await ask('PATCH', `/v1/operator/accounts/${accountId}`, { body, session: operator.session })).status;
  const served = async () => services.call('/v1/usage', { key });
  t.is(await change({ plan: 'pro' }), 200);
  t.like((await served()).json, { data: { plan: 'pro' } });
  t.is(await change({ status: 'disabled' }), 200);
  t.is((await served()).status, 401);
  t.is(await change({ status: 'active' }), 200);
  t.is((await served()).status, 200);
});

test.serial('pages of other origins may not call', async (t) => {
  const { session } = await newOperator();
  const from = async (origin: string) =>
    (await ask('GET', '/v1/operator/plans', { session, headers: { origin } })).headers.get(
      'access-control-allow-origin',
    );
  t.is(await from('https://elsewhere.example'), null);
  const preflight = await services.call('/v1/operator/accounts/x', {
    method: 'OPTIONS',
    headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'PATCH' },
  });
  t.is(preflight.headers.get('access-control-allow-origin'), null);
});

test.serial(
  'where a second factor is required, an operator without one has to set it up first',
  async (t) => {
    const strict = await startServices({
      clock,
      publisher: true,
      signIn: { operatorSecondFactor: 'required' },
    });
    t.teardown(() => strict.close());
    const people = peopleOf(strict);
    const { email, password, session } = await people.newPerson();
    await setRole(strict.accounts, email, 'operator');
    for (const { method, target } of targets)
      t.is(codeOf(await people.ask(method, target, { session })), 'forbidden', target);
    t.is((await people.get('/v1/account', session)).status, 200);
    t.like(dataIn(await people.get('/auth/second-factor', session)), { totp: null, required: true });

    const enrolment = dataIn(await people.post('/auth/second-factor/totp', { password }, session));
    const secret = recordSecret(String(enrolment['secret']));
    const body = { code: codeAt(secret, clock.now()) };
    t.is((await people.post('/auth/second-factor/totp/confirm', body, session)).status, 200);
    t.is((await people.get('/v1/operator/accounts', session)).status, 200);
    clock.advance(30_000); // to the next code, as each is accepted once
    const proof = { password, code: codeAt(secret, clock.now()) };
    t.is((await people.post('/auth/second-factor/turn-off', proof, session)).status, 204);
    t.is(codeOf(await people.get('/v1/operator/accounts', session)), 'forbidden');
  },
);
