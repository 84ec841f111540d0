// The follows of an account: it is mailed when a series, any series of a source, or any result of a search changes.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { entryAt, memberOf } from '../../kernel/entries.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { lockOwnAccount } from '../models/find-account.ts';
import { lockRowsOf } from '../models/lock-order.sql.ts';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import { newId } from '../ids.ts';
import type { Actor } from '../models/audit-event.ts';
import { followKinds, followModes, type Follow, type FollowKind } from '../models/follow.ts';
import type { Requester } from '../requester.ts';
import {
  deleteFollowsOf,
  selectFollows,
  selectNewestPlace,
  selectSubject,
  type ListedFollow,
} from './follows.sql.ts';

/** The most follows of an account. */
const followsMax = 200;
/** The words of a search, as in `/v1/catalog`. */
const wordsLengthMax = 200;

const kindRule = `must be one of ${followKinds.join(', ')}`;
const modeRule = `must be one of ${followModes.join(', ')}`;
const ofRule = 'must be text of 1 to 500 characters, without control characters';

const modeField = z
  .enum(followModes, { error: modeRule })
  .describe(
    '`at_once`: an e-mail a few minutes after a change at the latest. `daily`: one e-mail a day, at 06:00 UTC, if something changed.',
  );

const wanted = z.strictObject({
  kind: z
    .enum(followKinds, { error: kindRule })
    .describe(
      '`series`: one series. `source`: all series of a source. `search`: all series that have the words.',
    ),
  of: z
    .string({ error: ofRule })
    .trim()
    .min(1, ofRule)
    .max(500, ofRule)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, ofRule)
    .describe('The id of a series, the exact name of a source as in `/v1/sources`, or words.'),
  mode: modeField.default('at_once'),
});
type Wanted = z.output<typeof wanted>;

const followSchema = z.object({
  id: z.string(),
  kind: z.enum(followKinds),
  of: z.string(),
  name: z.string().nullable().describe('Of the series that is followed; null for the other kinds.'),
  mode: z.enum(followModes),
  created_at: z.iso.datetime(),
  mailed_at: z.iso.datetime().nullable().describe('When a change was last mailed.'),
});

const record = ({
  createdAt,
  mailedAt,
  subject,
  ...follow
}: ListedFollow): z.output<typeof followSchema> => ({
  ...{ id: follow.id, kind: follow.kind, of: subject, name: follow.name, mode: follow.mode },
  created_at: instantText(createdAt),
  mailed_at: mailedAt && instantText(mailedAt),
});

const followId = z.string().describe('An id of `/v1/follows`.');

export const listFollows = endpoint({
  summary: 'What the account is mailed about when it changes.',
  requester: 'account',
  query: listParams({ fields: followSchema.keyof().options, sorts: ['created_at'], sort: 'created_at' }),
  rows: followSchema,
  handler: async ({ db, cursors }, { requester: { accountId }, query, call }) => {
    const found = await call.stage('sql', () => selectFollows(db, accountId));
    const made = new Map(found.map(({ id, createdAt }) => [id, createdAt.getTime()]));
    return page(cursors, {
      query,
      of: ['follows', accountId],
      read: inMemory(found.map(record), query.sort, ({ id }) => [made.get(id) ?? 0, id]),
      fileName: 'follows',
    });
  },
});

export const createFollow = endpoint({
  summary: 'Follows a series, a source or a search: its changes from now on are mailed.',
  description: `An account has at most ${followsMax} follows. What it follows already is answered with status 200, its mode changed to that of the call. E-mails are sent to an e-mail address that is confirmed.`,
  requester: 'account',
  body: wanted,
  answers: { 200: followSchema, 201: followSchema },
  errors: ['not_found', 'conflict'],
  handler: (deps, { requester, body, call }) =>
    call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const { id, isNew } = await makeFollow(deps, transaction, requester, body);
        return one(await shown(deps, transaction, requester, id), { status: isNew ? 201 : 200 });
      }),
    ),
});

/** The lock on the account's row serializes the creation of its follows. */
async function makeFollow(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  { kind, of, mode }: Wanted,
): Promise<{ id: string; isNew: boolean }> {
  const { db, clock } = deps;
  await lockOwnAccount(deps, transaction, accountId);
  const subject = await requireSubject(deps, transaction, kind, of);
  const present = await db.follows.findOne({ where: { accountId, kind, subject }, transaction });
  if (present !== null) {
    if (present.mode !== mode) await setMode(deps, transaction, present, { actor, mode });
    return { id: present.id, isNew: false };
  }
  if ((await db.follows.count({ where: { accountId }, transaction })) >= followsMax)
    fail('conflict', `This account already has ${followsMax} follows. Delete one to create another.`);
  const id = newId('flw');
  const place = await selectNewestPlace(db, transaction);
  await db.follows.create(
    { id, accountId, kind, subject, mode, createdAt: clock.now(), place },
    { transaction },
  );
  await audit(deps, transaction, {
    ...{ accountId, actor, action: 'follow.created', subject: id },
    detail: { kind, of: subject, mode },
  });
  return { id, isNew: true };
}

/** @throws Failure `not_found`, which names the missing subject; `invalid_body` for a search without words. */
async function requireSubject(
  { db }: Deps,
  transaction: Transaction,
  kind: FollowKind,
  of: string,
): Promise<string> {
  if (kind === 'search' && of.length > wordsLengthMax)
    refuseField('of', `"of" must not be longer than ${wordsLengthMax} characters for a search.`);
  const subject = await selectSubject(db, transaction, kind, of);
  if (subject !== null) return subject;
  if (kind === 'search') refuseField('of', `"of" must have a word to search for; "${of}" has none.`);
  return fail(
    'not_found',
    kind === 'series'
      ? `There is no series "${of}". Find its id with GET /v1/search.`
      : `There is no source "${of}". GET /v1/sources lists all of them.`,
    { param: 'of' },
  );
}

export const changeFollow = endpoint({
  summary: 'Changes when the changes of a follow are mailed.',
  description: 'Changes that wait for the daily e-mail are mailed at once, and the other way round.',
  params: { id: followId },
  requester: 'account',
  body: z.strictObject({ mode: modeField }),
  answers: { 200: followSchema },
  errors: ['not_found'],
  handler: (deps, { requester, body: { mode }, params, call }) =>
    call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const follow = await findFollow(deps, transaction, requester.accountId, memberOf(params, 'id'));
        await setMode(deps, transaction, follow, { actor: requester.actor, mode });
        return one(await shown(deps, transaction, requester, follow.id));
      }),
    ),
});

async function setMode(
  deps: Deps,
  transaction: Transaction,
  follow: Follow,
  { actor, mode }: { actor: Actor; mode: Follow['mode'] },
): Promise<void> {
  const { accountId, id, kind, subject: of } = follow;
  await follow.update({ mode }, { transaction });
  const detail = { kind, of, mode };
  await audit(deps, transaction, { accountId, actor, action: 'follow.updated', subject: id, detail });
}

export const deleteFollow = endpoint({
  summary: 'Ends a follow; what waits is not mailed.',
  params: { id: followId },
  requester: 'account',
  answers: { 204: null },
  errors: ['not_found'],
  handler: async (deps, { requester: { accountId, actor }, params, call }) => {
    await call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const follow = await findFollow(deps, transaction, accountId, memberOf(params, 'id'));
        await endFollow(deps, transaction, follow, actor);
      }),
    );
    return { status: 204 };
  },
});

export async function endFollow(
  deps: Deps,
  transaction: Transaction,
  follow: Follow,
  actor: Actor,
): Promise<void> {
  await follow.destroy({ transaction });
  await auditDeleted(deps, transaction, { ...follow.get(), actor });
}

/** Ends all follows of an account. @returns their number. */
export async function endFollowsOf(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  actor: Actor,
): Promise<number> {
  await lockRowsOf(deps.db, transaction, 'accounts.follows', accountId);
  const ended = await deleteFollowsOf(deps.db, transaction, accountId);
  for (const follow of ended) await auditDeleted(deps, transaction, { ...follow, accountId, actor });
  return ended.length;
}

async function auditDeleted(
  deps: Deps,
  transaction: Transaction,
  {
    accountId,
    actor,
    id,
    kind,
    subject: of,
  }: Pick<Follow, 'accountId' | 'id' | 'kind' | 'subject'> & { actor: Actor },
): Promise<void> {
  await audit(deps, transaction, {
    accountId,
    actor,
    action: 'follow.deleted',
    subject: id,
    detail: { kind, of },
  });
}

/** A follow of the account, locked. @throws Failure `not_found`, also for one of another account. */
async function findFollow(
  { db }: Deps,
  transaction: Transaction,
  accountId: string,
  id: string,
): Promise<Follow> {
  const lock = transaction.LOCK.UPDATE;
  const follow = await db.follows.findOne({ where: { id, accountId }, transaction, lock });
  return follow ?? fail('not_found', 'The account has no follow with this id.');
}

async function shown({ db }: Deps, transaction: Transaction, { accountId }: Requester, id: string) {
  return record(entryAt(await selectFollows(db, accountId, id, transaction), 0));
}
