// The audit log: the events of the account, newest first.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { Waiting } from '../../../components/states.tsx';
import { numberText } from '../../../text/numbers.ts';
import { instantText } from '../../../text/times.ts';
import type { OfAccount } from '../account-page.tsx';

type AuditRow = Row<'/v1/account/audit'>;

const rowsAtFirst = 10;
/** Of a page of the API. */
const rowsMax = 1_000;

const whatHappened: Readonly<Record<AuditRow['action'], string>> = {
  'account.created': 'Account created',
  'account.updated': 'Account details changed',
  'account.plan_changed': 'Plan changed',
  'account.disabled': 'Account disabled',
  'account.enabled': 'Account enabled',
  'account.role_changed': 'Role changed',
  'account.closed': 'Account closed',
  'email.verified': 'E-mail address confirmed',
  'email.change_asked': 'New e-mail address requested',
  'email.changed': 'E-mail address changed',
  'password.changed': 'Password changed',
  'password.set': 'Password set',
  'session.created': 'Signed in',
  'session.ended': 'Signed out',
  'google.linked': 'Google account linked',
  'google.unlinked': 'Google account unlinked',
  'totp.enrolled': 'Two-factor sign-in turned on',
  'totp.removed': 'Two-factor sign-in turned off',
  'recovery.codes_made': 'New recovery codes created',
  'recovery.code_used': 'Recovery code used',
  'passkey.added': 'Passkey added',
  'passkey.renamed': 'Passkey renamed',
  'passkey.removed': 'Passkey removed',
  'passkey.refused': 'Passkey refused: it may have been copied',
  'key.created': 'API key created',
  'key.renamed': 'API key renamed',
  'key.rotated': 'API key rotated',
  'key.old_value_ended': 'Old secret of an API key revoked',
  'key.access_changed': 'Permissions of an API key changed',
  'key.revoked': 'API key revoked',
  'webhook.created': 'Webhook created',
  'webhook.updated': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'follow.created': 'Follow started',
  'follow.updated': 'Follow changed',
  'follow.deleted': 'Follow ended',
  'webhook.secret_rotated': 'Webhook secret replaced',
  'webhook.disabled': 'Webhook disabled',
  'subscription.updated': 'Subscription changed',
  'subscription.duplicate_canceled': 'Second subscription canceled',
  'payment.failed': 'Payment failed',
  'purchase.taken': 'Purchase added to the account',
};

export function AuditLog({ account }: OfAccount) {
  const [limit, setLimit] = useState(rowsAtFirst);
  const loaded = useLoad(
    async (signal) => {
      const answer = await accountApi.get('/v1/account/audit', { query: { limit }, signal });
      return { rows: rowsOf(answer), hasMore: answer.pagination.next_cursor !== null };
    },
    [limit, account],
  );
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit log</h2>
      <Waiting for={loaded} failure="The audit log could not be loaded">
        {({ rows, hasMore }) => (
          <>
            <DataTable
              caption="Audit log"
              dense
              rows={rows}
              keyOf={({ at, action, subject }) => `${at} ${action} ${subject}`}
              columns={[
                { label: 'What', cell: ({ action }) => whatHappened[action] },
                { label: 'Time (UTC)', cell: ({ at }) => <span class="nb">{instantText(at)}</span> },
                { label: 'By', cell: ({ actor }) => actorText(actor) },
                { label: 'Of', cell: ({ subject }) => <span class="mono xs">{subject}</span> },
              ]}
            />
            {hasMore && limit < rowsMax && (
              <button
                class="btn sml below"
                type="button"
                onClick={() => setLimit(Math.min(rowsMax, limit * 5))}
              >
                Show more
              </button>
            )}
            {hasMore && limit === rowsMax && (
              <p class="xs dim below">
                The newest {numberText(rowsMax)} events. <code>GET /v1/account/audit</code> has all.
              </p>
            )}
          </>
        )}
      </Waiting>
    </section>
  );
}

function actorText({ kind }: AuditRow['actor']): string {
  const names = {
    key: 'a key',
    session: 'you, signed in',
    operator: 'the operator',
    visitor: 'somebody not signed in',
    system: 'Almanac',
    stripe: 'Stripe',
  };
  return names[kind];
}
