// The Sequelize model of an audit event: one row of accounts.audit_events, which is append-only.
import { instant, json, nullable, numbered, table, text, type RowOf } from './table.ts';

/**
 * Who makes a change. `actorId` is the id of the key or the session; for an operator the id of the operator's account, or null for the command line.
 * A visitor has proved a password, a mailed link, a passkey, a Google identity or a payment without being signed in. The system is the service
 * itself, such as its worker. Stripe reports the state of subscriptions.
 */
export type Actor =
  | { actorKind: 'key' | 'session'; actorId: string }
  | { actorKind: 'operator'; actorId: string | null }
  | { actorKind: 'visitor' | 'system' | 'stripe'; actorId: null };

/** The actions that are audited. */
export const actions = [
  'account.created',
  'account.updated',
  'account.plan_changed',
  'account.disabled',
  'account.enabled',
  'account.role_changed',
  'account.closed',
  'email.verified',
  'email.change_asked',
  'email.changed',
  'password.changed',
  'password.set',
  'session.created',
  'session.ended',
  'google.linked',
  'google.unlinked',
  'totp.enrolled',
  'totp.removed',
  'recovery.codes_made',
  'recovery.code_used',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  'passkey.refused',
  'key.created',
  'key.renamed',
  'key.access_changed',
  'key.rotated',
  'key.old_value_ended',
  'key.revoked',
  'webhook.created',
  'webhook.updated',
  'webhook.deleted',
  'webhook.secret_rotated',
  'webhook.disabled',
  'follow.created',
  'follow.updated',
  'follow.deleted',
  'subscription.updated',
  'subscription.duplicate_canceled',
  'payment.failed',
  'purchase.taken',
] as const;

export type Action = (typeof actions)[number];

export const auditEvents = table('audit_events', 'auditEvent', {
  eventNo: numbered,
  at: instant,
  accountId: text(),
  actorKind: text<Actor['actorKind']>(),
  actorId: nullable(text()),
  action: text<Action>(),
  /** The id of the changed object. */
  subject: text(),
  /** What changed, without any secret. */
  detail: json,
});

export type AuditEvent = RowOf<typeof auditEvents>;
