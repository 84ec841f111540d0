// Sign-in with a passkey. The browser offers the passkeys of this site, and the passkey verifies its user by fingerprint, face or PIN. That counts as
// two factors, so neither a code nor an e-mail address is required.
import { z } from 'zod';
import { instantText } from '../../../kernel/clock.ts';
import { one } from '../../../kernel/http/service-endpoint.ts';
import type { ServiceCall } from '../../../kernel/http/server.ts';
import { lockAccountIfUnchanged } from '../../models/find-account.ts';
import { audit } from '../../audit.ts';
import type { ServiceDeps } from '../../deps.ts';
import { endpoint } from '../../endpoint.ts';
import type { Account } from '../../models/account.ts';
import { clientInfoOf, type ClientInfo } from '../../sessions/client-info.ts';
import { endPresented, openSession, signedInAnswer, type SessionAnswer } from '../../sessions/sessions.ts';
import { requireUsable } from '../sign-in.ts';
import { visitor } from '../sign-up.ts';
import { challengeLastsMs, mintChallenge, spendChallenge } from './challenges.ts';
import { findPasskey, noteUse, type Passkey } from '../../sessions/passkeys.sql.ts';
import { passkeySiteOf, type PasskeySite } from '../passkey-site.ts';
import { assertion, credentialBytesMax, failRefused, verifySignIn } from './verify.ts';

export const beginPasskeySignIn = endpoint({
  summary: 'Begins a sign-in by a passkey: what the browser passes to `navigator.credentials.get`.',
  requester: 'anyone',
  answers: {
    200: z.object({
      options: z
        .object({
          challenge: z.string(),
          rpId: z.string(),
          timeout: z.int(),
          userVerification: z.literal('required'),
        })
        .describe('For `PublicKeyCredential.parseRequestOptionsFromJSON()`.'),
      expires_at: z.iso.datetime().describe('Five minutes after this answer.'),
    }),
  },
  errors: ['not_found'],
  needs: ({ settings }) => passkeySiteOf(settings.publicUrl),
  handler: async (deps, _asked, site) => {
    const { challenge, expiresAt } = await mintChallenge(deps, null, null);
    const { rpId } = site;
    const options = { challenge, rpId, timeout: challengeLastsMs, userVerification: 'required' };
    return one({ options, expires_at: instantText(expiresAt) });
  },
});

export const passkeySignIn = endpoint({
  summary: 'Signs in by a passkey. No code is asked for: the passkey has verified its holder.',
  requester: 'anyone',
  body: z.strictObject({ credential: assertion }),
  bodyBytesMax: credentialBytesMax,
  answers: { 200: signedInAnswer },
  errors: ['invalid_credentials', 'forbidden', 'gone', 'not_found', 'rate_limited'],
  needs: ({ settings }) => passkeySiteOf(settings.publicUrl),
  handler: async (deps, { body: { credential }, call, request }, site) => {
    const clientInfo = clientInfoOf(request);
    const { ip } = clientInfo;
    let outcome: Outcome = { refusal: 'it was not compared' };
    await deps.throttle.signIn({ passkey: credential.id, ip }, async () => {
      outcome = await attempt(deps, site, { credential, clientInfo, call });
      return 'session' in outcome;
    });
    const result = outcome as Outcome;
    if ('session' in result)
      return one({ ...result.session, device_token: deps.throttle.deviceToken(result.account) });
    const event = { event: 'sign_in_refused', credential_id: credential.id, ip, why: result.refusal };
    deps.log.info(event, 'a sign-in by a passkey was refused');
    return failRefused(result.refusal);
  },
});

type Outcome = { session: SessionAnswer; account: Account } | { refusal: string };

/** @throws Failure `gone` for the challenge; `forbidden` for the account, only after the passkey is verified. */
async function attempt(
  deps: ServiceDeps,
  site: PasskeySite,
  asked: { credential: z.output<typeof assertion>; clientInfo: ClientInfo; call: ServiceCall },
): Promise<Outcome> {
  const { credential, clientInfo, call } = asked;
  const challenge = await spendChallenge(deps, credential.response.clientDataJSON.challenge, null);
  const passkey = await findPasskey(deps.db, credential.id);
  if (passkey === null) return { refusal: unknown };
  const verified = await verifySignIn(site, credential, { challenge, passkey });
  if ('refusal' in verified) return verified;
  const account = await deps.db.accounts.findByPk(passkey.account_id);
  if (account === null) return { refusal: unknown };
  requireUsable(deps, account);
  return deps.db.inLedgerTransaction(async (transaction) => {
    if (!(await lockAccountIfUnchanged(deps, transaction, account)))
      return { refusal: 'the account has just changed' };
    const { signCount } = verified;
    if (!(await noteUse(deps.db, transaction, { id: passkey.id, signCount, now: deps.clock.now() }))) {
      await audit(deps, transaction, {
        ...{ accountId: account.id, actor: visitor, action: 'passkey.refused', subject: passkey.id },
        detail: refusedDetail(passkey, signCount, clientInfo),
      });
      deps.log.warn(
        { event: 'passkey_count', account_id: account.id, passkey_id: passkey.id, ip: clientInfo.ip },
        'the count of a passkey has not risen: a copy of it may be in use',
      );
      return {
        refusal:
          'its count of signatures has not risen, so that a copy of it may be in use. Sign in by your password, remove it, and add a new one',
      };
    }
    await endPresented(deps, transaction, account.id, call);
    const session = await openSession(deps, transaction, account.id, { clientInfo, how: 'passkey' });
    return { session, account };
  });
}

const unknown = 'it is not known here. It was removed, or belongs to another site';

function refusedDetail({ name, sign_count: stored }: Passkey, signed: number, { ip }: ClientInfo) {
  return { name, count: { stored, signed }, ip };
}
