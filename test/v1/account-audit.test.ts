// /v1/account/audit: every change of an account writes one row with the actor, the action and the subject; the holder can read it.
import { instantText } from '../../kernel/clock.ts';
import test from 'ava';
import { actions, type Action } from '../../accounts-api/models/audit-event.ts';
import { assertError, type SignedIn } from '../services/accounts-service.ts';
import { newPassword } from '../services/sign-in.ts';
import { service, headers, type Act, newHolder, closeAudited } from './audit-acts/audited.ts';
import { accountActs } from './audit-acts/account-acts.ts';
import { signInActs } from './audit-acts/sign-in-acts.ts';
import { keyActs } from './audit-acts/key-acts.ts';
import { billingActs } from './audit-acts/billing-acts.ts';
import { webhookAndFollowActs } from './audit-acts/webhook-and-follow-acts.ts';

test.after.always(closeAudited);

const writers: Record<Action, Record<string, Act>> = {
  ...accountActs,
  ...signInActs,
  ...keyActs,
  ...billingActs,
  ...webhookAndFollowActs,
};

interface Shown {
  at: string;
  action: string;
  actor: object;
  subject: string;
  detail: object;
}

/** The rows about a subject that the account's holder can read. */
async function read(caller: SignedIn, subject: string): Promise<Shown[]> {
  const { body } = await service.signedIn(caller, '/v1/account/audit');
  return (body as { data: Shown[] }).data.filter((event) => event.subject === subject);
}

const rowsAfter = async (eventNo: number, action: Action) =>
  (await service.deps.db.auditEvents.findAll({ where: { action }, order: ['eventNo'] })).filter(
    (row) => Number(row.eventNo) > eventNo,
  );
const lastEvent = async () => Number(await service.deps.db.auditEvents.max('eventNo'));

for (const action of actions) {
  for (const [how, act] of Object.entries(writers[action])) {
    test.serial(`${action} is written once, with who did it and to what: ${how}`, async (t) => {
      service.clock.advance(1000);
      const stranger = await newHolder();
      const before = await lastEvent();
      const { accountId, actor, subject, detail } = await act(t);
      // The case may first have signed in its holder or created a key; the audited action comes last.
      const rows = await rowsAfter(before, action);
      t.is(rows.filter((row) => row.subject === subject).length, 1);
      t.like(rows.at(-1), { accountId, subject });
      const at = instantText(service.clock.now());
      const shown = await read({ accountId, sessionId: 'sess_reader' }, subject);
      t.deepEqual(
        shown.filter((event) => event.action === action),
        [{ at, action, actor, subject, detail }],
      );
      t.deepEqual(await read(stranger, subject), []);
    });
  }
}

test.serial('refused changes write no row', async (t) => {
  const [holder, other] = [await newHolder(), await newHolder()];
  const before = await lastEvent();
  const ask = (method: string, target: string, body?: object) =>
    service.signedIn(holder, target, { method, headers, ...(body === undefined ? {} : { body }) });
  assertError(t, await ask('DELETE', `/auth/sessions/${other.sessionId}`), 404, 'not_found');
  assertError(t, await ask('DELETE', `/v1/keys/key_${'a'.repeat(20)}`), 404, 'not_found');
  assertError(t, await ask('DELETE', '/auth/google/link'), 404, 'not_found');
  assertError(t, await ask('PATCH', '/v1/account', { name: '' }), 400, 'invalid_body');
  const wrong = { current: newPassword(), new: newPassword() };
  assertError(t, await ask('POST', '/auth/change-password', wrong), 401, 'invalid_credentials');
  const ended = { ...holder, sessionId: other.sessionId };
  t.is((await service.signedIn(ended, '/auth/logout', { method: 'POST' })).status, 204);
  t.is(await lastEvent(), before);
});
