// The unsubscribe links in e-mails (RFC 8058). A POST ends the follows without a sign-in. A GET redirects to a page with a button, as mail scanners
// open links.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { endpoint } from '../endpoint.ts';
import { linkTo } from '../mail/mail-texts.ts';
import type { Actor } from '../models/audit-event.ts';
import { endFollow, endFollowsOf } from './follows.ts';

const query = { token: z.string().max(200).describe('Of the link in an e-mail.') };

const ended = z.object({
  ended: z.int().describe('How many follows ended now: 0 if they had ended before.'),
});

/** Anyone with the e-mail may use the link. */
const actor: Actor = { actorKind: 'visitor', actorId: null };

export const unsubscribe = endpoint({
  summary: 'Ends the follow, or all follows, of a link in an e-mail.',
  description:
    'The token is the credential. A body is not read: mail programs send `List-Unsubscribe=One-Click`.',
  requester: 'anyone',
  acceptsAnyBody: true,
  query,
  answers: { 200: ended },
  errors: ['gone'],
  handler: async (deps, { query: { token }, call }) => {
    const id = deps.unsubscribeTokens.read(token);
    if (id === null)
      fail('gone', 'This link is no longer valid here. Sign in: the page Following has all follows.', {
        param: 'token',
      });
    const count = await call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        if (id.startsWith('acct_')) return endFollowsOf(deps, transaction, id, actor);
        const follow = await deps.db.follows.findByPk(id, { transaction, lock: transaction.LOCK.UPDATE });
        if (follow === null) return 0;
        await endFollow(deps, transaction, follow, actor);
        return 1;
      }),
    );
    return one({ ended: count });
  },
});

export const showUnsubscribe = endpoint({
  summary: 'Leads a browser to the page that ends follows; it ends none by itself.',
  requester: 'anyone',
  query,
  answers: { 302: null },
  headers: ['Location', 'Referrer-Policy'],
  handler: ({ settings: { publicUrl } }, { query: { token } }) => ({
    status: 302,
    headers: {
      location: linkTo(publicUrl, 'unsubscribe', encodeURIComponent(token)),
      'referrer-policy': 'no-referrer',
    },
  }),
});
