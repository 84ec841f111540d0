// Two concurrent changes of one account have the result of running one after the other.
import test from 'ava';
import { startServices } from '../services/services.ts';
import { from, newPassword, startMailbox, tokenIn } from '../services/sign-in.ts';
import { codeOf, dataIn, peopleOf } from './people.ts';

const mailbox = await startMailbox();
const services = await startServices({ mail: { smtpUrl: mailbox.smtpUrl } });
const { ask, get, newPerson } = peopleOf(services);
test.after.always(async () => {
  await services.close();
  await mailbox.close();
});

const rounds = 3;
async function resetLink(email: string): Promise<string> {
  await ask('POST', '/auth/forgot-password', { body: { email }, headers: from() });
  return tokenIn(await mailbox.next(email, 'Set a new password'));
}
const setPassword = (token: string, password: string) =>
  ask('POST', '/auth/set-password', { body: { token, password }, headers: from() });
const logIn = (email: string, password: string) =>
  ask('POST', '/auth/login', { body: { email, password }, headers: from() });

test.serial('of two links to a new password that are used at once, one counts', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const { email } = await newPerson();
    const links = [await resetLink(email), await resetLink(email)] as const;
    const passwords = [newPassword(), newPassword()] as const;
    const answers = await Promise.all([0, 1].map((i) => setPassword(links[i] ?? '', passwords[i] ?? '')));
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 410]);
    const winner = answers[0]?.status === 200 ? 0 : 1;
    t.is((await logIn(email, passwords[winner])).status, 200);
  }
});

test.serial('of four who change a password at once by the same present one, one does', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const { email, password, session } = await newPerson();
    const wishes = Array.from({ length: 4 }, () => newPassword());
    const answers = await Promise.all(
      wishes.map((wish) =>
        ask('POST', '/auth/change-password', {
          body: { current: password, new: wish },
          session,
          headers: from(),
        }),
      ),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    for (const answer of answers.filter(({ status }) => status !== 200)) t.is(answer.status, 401);
    t.is((await logIn(email, wishes[winner] ?? '')).status, 200);
  }
});

test.serial('a new e-mail address and a new password at once: one of them, never both', async (t) => {
  for (let round = 0; round < rounds; round += 1) {
    const { email, password, session } = await newPerson();
    const next = `next-${email}`;
    const asked = { body: { email: next, password }, session, headers: from() };
    t.is((await ask('PATCH', '/v1/account', asked)).status, 200);
    const emailToken = tokenIn(await mailbox.next(next, 'Confirm your new'));
    const reset = await resetLink(email);
    const wish = newPassword();
    const [confirmed, set] = await Promise.all([
      ask('POST', '/auth/verify-email', { body: { token: emailToken, password }, headers: from() }),
      setPassword(reset, wish),
    ]);
    t.is([confirmed, set].filter(({ status }) => status < 300).length, 1);
    t.is((await logIn(next, password)).status, confirmed.status === 200 ? 200 : 401);
    t.is((await logIn(email, wish)).status, set.status === 200 ? 200 : 401);
  }
});

test.serial(
  'closing an account during all other requests for it closes it once, and no call fails',
  async (t) => {
    for (let round = 0; round < rounds; round += 1) {
      const { email, password, session } = await newPerson();
      const link = await resetLink(email);
      const made = await ask('POST', '/v1/keys', { body: { name: 'k' }, session });
      const answers = await Promise.all([
        ask('DELETE', '/v1/account', { session }),
        ask('DELETE', '/v1/account', { session }),
        ask('POST', '/v1/keys', { body: { name: 'later' }, session }),
        ask('DELETE', `/v1/keys/${String(dataIn(made)['id'])}`, { session }),
        ask('PATCH', '/v1/account', { body: { name: 'Nobody' }, session }),
        logIn(email, password),
        setPassword(link, newPassword()),
        get('/v1/usage', session),
        get('/auth/sessions', session),
        ask('POST', '/auth/logout', { session }),
      ]);
      for (const answer of answers) t.true(answer.status < 500, answer.text);
      const rows = await services.database.query<{ closed: number; left: number }>(
        `select (select count(*)::int from accounts.audit_events where action = 'account.closed' and account_id =
                 (select account_id from accounts.audit_events where subject = $1 and action = 'key.created')) as closed,
              (select count(*)::int from accounts.accounts where email = $2) as left`,
        [dataIn(made)['id'], email],
      );
      t.is((rows[0]?.closed ?? 0) + (rows[0]?.left ?? 0), 1, 'closed once, or there still');
      const closed = answers.slice(0, 2).filter(({ status }) => status === 204).length;
      t.is(closed, rows[0]?.closed ?? 0);
      for (const refused of answers.slice(0, 2).filter(({ status }) => status !== 204)) {
        t.true(
          ['unauthorized', 'conflict', 'reauthentication_required'].includes(codeOf(refused) ?? ''),
          refused.text,
        );
      }
    }
  },
);
