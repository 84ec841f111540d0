// Lists, adds, renames and removes the passkeys of an account. Adding or removing one requires all factors of the account; the holder is notified by
// mail.
import { z } from 'zod';
import { instantText } from '../../../kernel/clock.ts';
import { entryAt, memberOf } from '../../../kernel/entries.ts';
import { fail } from '../../../kernel/errors.ts';
import { listParams } from '../../../kernel/http/list.ts';
import { inMemory, page } from '../../../kernel/http/pages.ts';
import { one } from '../../../kernel/http/service-endpoint.ts';
import { findAccount } from '../../models/find-account.ts';
import { audit } from '../../audit.ts';
import { endpoint } from '../../endpoint.ts';
import { nameField } from '../../fields.ts';
import { newId } from '../../ids.ts';
import { notify } from '../../jobs/jobs.ts';
import { clientInfoOf } from '../../sessions/client-info.ts';
import { codeField } from '../second-factor/codes.ts';
import { byAllFactors, currentPassword, lockAccountOrFail, proofErrors } from '../second-factor/proof.ts';
import { noteTwoFactors } from '../../sessions/sessions.ts';
import { endSessionsOf } from '../../sessions/sessions.sql.ts';
import { challengeLastsMs, mintChallenge, spendChallenge } from './challenges.ts';
import {
  countPasskeys,
  deletePasskeys,
  insertPasskey,
  renamePasskey,
  selectPasskeys,
  type Passkey,
} from '../../sessions/passkeys.sql.ts';
import { passkeySiteOf } from '../passkey-site.ts';
import { algorithms, credentialBytesMax, newCredential, userHandleOf, verifyNew } from './verify.ts';

const passkeysMax = 10;

const passkeySchema = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable().describe('The last sign-in by it; null if there was none.'),
});
const passkeyId = z.string().describe('An id of `/auth/passkeys`.');
const proof = {
  password: currentPassword,
  code: codeField
    .optional()
    .describe('Needed if the account has an authenticator app: a code of it, or a recovery code.'),
};

export const listPasskeys = endpoint({
  summary: 'The passkeys of the account.',
  requester: 'signed_in',
  query: listParams({
    fields: passkeySchema.keyof().options,
    sorts: ['created_at'],
    sort: 'created_at',
  }),
  rows: passkeySchema,
  handler: async ({ db, cursors }, { requester: { accountId }, query }) => {
    const found = await selectPasskeys(db, null, accountId);
    return page(cursors, {
      query,
      of: ['passkeys', accountId],
      read: inMemory(found.map(recordOf), query.sort, ({ id }, position) => [
        entryAt(found, position).created_at.getTime(),
        id,
      ]),
      fileName: 'passkeys',
    });
  },
});

const descriptor = z.object({ type: z.literal('public-key'), id: z.string() });

export const beginPasskey = endpoint({
  summary: 'Begins to add a passkey: what the browser passes to `navigator.credentials.create`.',
  description:
    'Takes all factors of the account. The session that begins must finish, by `POST /auth/passkeys`.',
  requester: 'signed_in',
  body: z.strictObject(proof),
  answers: {
    200: z.object({
      options: z
        .object({
          rp: z.object({ id: z.string(), name: z.string() }),
          user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
          challenge: z.string(),
          pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
          timeout: z.int(),
          excludeCredentials: z.array(descriptor),
          authenticatorSelection: z.object({
            residentKey: z.literal('required'),
            requireResidentKey: z.literal(true),
            userVerification: z.literal('required'),
          }),
          attestation: z.literal('none'),
        })
        .describe('For `PublicKeyCredential.parseCreationOptionsFromJSON()`.'),
      expires_at: z.iso.datetime().describe('Five minutes after this answer.'),
    }),
  },
  errors: ['not_found', ...proofErrors],
  needs: ({ settings }) => passkeySiteOf(settings.publicUrl),
  handler: async (deps, { requester, body, request }, site) => {
    const rp = { id: site.rpId, name: `Almanac ${site.rpId}` };
    const account = await findAccount(deps, requester.accountId);
    const { id: accountId, email, credentialVersion } = account;
    const { ip } = clientInfoOf(request);
    const shown = { requester, ...body, ip, to: 'add a passkey' };
    const { known, minted } = await byAllFactors(deps, account, shown, async (transaction) => {
      const passkeys = await selectPasskeys(deps.db, transaction, accountId);
      if (passkeys.length >= passkeysMax) failFull();
      const adder = { accountId, sessionId: requester.sessionId, credentialVersion };
      return { known: passkeys, minted: await mintChallenge(deps, transaction, adder) };
    });
    const options = {
      rp,
      user: { id: userHandleOf(accountId), name: email, displayName: account.name ?? email },
      challenge: minted.challenge,
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: challengeLastsMs,
      excludeCredentials: known.map(({ credential_id: id }) => ({ type: 'public-key', id })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    };
    return one({ options, expires_at: instantText(minted.expiresAt) });
  },
});

export const addPasskey = endpoint({
  summary: 'Adds a passkey to the account. It signs in from now on.',
  requester: 'signed_in',
  body: z.strictObject({ name: nameField, credential: newCredential }),
  bodyBytesMax: credentialBytesMax,
  answers: { 201: passkeySchema },
  errors: ['not_found', 'invalid_credentials', 'conflict', 'gone'],
  needs: ({ settings }) => passkeySiteOf(settings.publicUrl),
  handler: async (deps, { requester, body: { name, credential }, request }, site) => {
    const account = await findAccount(deps, requester.accountId);
    const { id: accountId, email, credentialVersion } = account;
    const { challenge } = credential.response.clientDataJSON;
    const adder = { accountId, sessionId: requester.sessionId, credentialVersion };
    const made = await verifyNew(site, credential, await spendChallenge(deps, challenge, adder));
    const { ip } = clientInfoOf(request);
    const passkey = {
      ...{ id: newId('psk'), account_id: accountId, name, created_at: deps.clock.now() },
      ...{ credential_id: made.credentialId, public_key: made.publicKey, sign_count: made.signCount },
    };
    await deps.db.inLedgerTransaction(async (transaction) => {
      await lockAccountOrFail(deps, transaction, account);
      if ((await countPasskeys(deps.db, transaction, accountId)) >= passkeysMax) failFull();
      if (!(await insertPasskey(deps.db, transaction, passkey)))
        fail('conflict', 'This passkey was added before. Remove it first, or use another authenticator.');
      await noteTwoFactors(deps, transaction, requester);
      const { actor } = requester;
      const detail = { name, ip };
      await audit(deps, transaction, {
        accountId,
        actor,
        action: 'passkey.added',
        subject: passkey.id,
        detail,
      });
      await notify(deps, transaction, 'passkey_added', email);
    });
    return one(recordOf({ ...passkey, last_used_at: null }), { status: 201 });
  },
});

export const changePasskey = endpoint({
  summary: 'Renames a passkey.',
  params: { id: passkeyId },
  requester: 'signed_in',
  body: z.strictObject({ name: nameField }),
  answers: { 200: passkeySchema },
  errors: ['not_found', 'conflict'],
  handler: async (deps, { requester, params, body: { name } }) => {
    const account = await findAccount(deps, requester.accountId);
    const { accountId, actor } = requester;
    const id = memberOf(params, 'id');
    const passkey = await deps.db.inLedgerTransaction(async (transaction) => {
      await lockAccountOrFail(deps, transaction, account);
      const renamed = (await renamePasskey(deps.db, transaction, { accountId, id, name })) ?? failUnknown();
      const detail = { before: renamed.before, name };
      if (name !== renamed.before)
        await audit(deps, transaction, {
          accountId,
          actor,
          action: 'passkey.renamed',
          subject: id,
          detail,
        });
      return renamed;
    });
    return one(recordOf(passkey));
  },
});

export const removePasskey = endpoint({
  summary: 'Removes a passkey: it signs in no longer. All other sessions of the account end.',
  description: 'Takes all factors of the account. Remove it from the authenticator, too.',
  params: { id: passkeyId },
  requester: 'signed_in',
  body: z.strictObject(proof),
  answers: { 204: null },
  errors: ['not_found', ...proofErrors],
  handler: async (deps, { requester, params, body, request }) => {
    const account = await findAccount(deps, requester.accountId);
    const { ip } = clientInfoOf(request);
    const shown = { requester, ...body, ip, to: 'remove a passkey' };
    await byAllFactors(deps, account, shown, async (transaction) => {
      const { accountId, actor, sessionId } = requester;
      const wanted = { accountId, id: memberOf(params, 'id') };
      const [removed] = await deletePasskeys(deps.db, transaction, wanted);
      if (removed === undefined) failUnknown();
      await endSessionsOf(deps.db, transaction, accountId, sessionId);
      const { id: subject, name } = removed;
      const detail = { name, ip };
      await audit(deps, transaction, { accountId, actor, action: 'passkey.removed', subject, detail });
      await notify(deps, transaction, 'passkey_removed', account.email);
    });
    return { status: 204 };
  },
});

function recordOf({ id, name, created_at: made, last_used_at: used }: Omit<Passkey, 'account_id'>) {
  return {
    id,
    name,
    created_at: instantText(made),
    last_used_at: used === null ? null : instantText(used),
  };
}

function failFull(): never {
  return fail('conflict', `An account has at most ${passkeysMax} passkeys. Remove one first.`);
}

function failUnknown(): never {
  return fail('not_found', 'The account has no passkey with this id.');
}
