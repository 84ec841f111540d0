// The lists of accounts-api: pages in every order, CSV, selected fields; each cursor is valid for its own list only.
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { endpoints } from '../../accounts-api/routes.ts';
import { memberOf } from '../../kernel/entries.ts';
import { csvText } from '../../kernel/http/list.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { newId } from '../../accounts-api/ids.ts';
import { insertPasskey } from '../../accounts-api/sessions/passkeys.sql.ts';
import { holdersOf } from '../auth/holders.ts';
import {
  assertError,
  startAccountsService,
  type Answer,
  type SignedIn,
} from '../services/accounts-service.ts';

const service = await startAccountsService('2026-11-20T10:00:00.000Z');
const { newHolder, newSession } = await holdersOf(service);
test.after.always(() => service.close());

type Row = Record<string, unknown>;
interface ListBody {
  data: Row[];
  count: number;
  pagination: { next_cursor: string | null; count: number };
}

/** Every list as declared, with the name of its file. */
const files: Record<string, string> = {
  '/v1/plans': 'plans.csv',
  '/v1/account/audit': 'audit.csv',
  '/v1/keys': 'keys.csv',
  '/v1/billing/purchases': 'purchases.csv',
  '/v1/usage/history': 'usage-2026-10-22-2026-11-20.csv',
  '/v1/webhooks': 'webhooks.csv',
  '/v1/webhooks/:id/deliveries': 'deliveries.csv',
  '/v1/follows': 'follows.csv',
  '/auth/sessions': 'sessions.csv',
  '/auth/passkeys': 'passkeys.csv',
  '/v1/operator/accounts': 'accounts.csv',
  '/v1/operator/accounts/:id/keys': 'keys.csv',
  '/v1/operator/plans': 'plans.csv',
};
/** Lists that are the same for everybody who may see them. */
const ofNobody = ['/v1/plans', '/v1/operator/accounts', '/v1/operator/plans'];
const lists = endpoints
  .filter(([, , { query }]) => Object.hasOwn(query.shape, 'cursor'))
  .map(([, path, { query }]) => {
    const refused = query.safeParse({ sort: 'zzz' }).error?.issues[0]?.message ?? '';
    const sorts = refused.replace('must be one of ', '').split(', ');
    const usual = memberOf(query.parse({}), 'fields') as string[];
    return { path, sorts, fields: path === '/v1/usage/history' ? ['date', 'calls', 'billed'] : usual };
  });

interface Owner extends SignedIn {
  /** The first of its endpoints. */
  webhookId: string;
}

/** A holder with several rows in each list, some of them created at the same instant. */
async function newOwner(): Promise<Owner> {
  const holder = await newHolder();
  const { accountId } = holder;
  await setPlan(service.deps, accountId, 'pro');
  const webhooks: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    if (name !== 'two') service.clock.advance(1000);
    await newSession(accountId);
    const { body } = await service.signedIn(holder, '/v1/keys', { body: { name } });
    const { id } = (body as { data: { id: string } }).data;
    if (name === 'one') await service.signedIn(holder, `/v1/keys/${id}`, { method: 'DELETE' });
    const wish = { url: 'https://hooks.example.org/', events: ['key.created'], description: name };
    await service.signedIn(holder, '/v1/follows', { body: { kind: 'search', of: name } });
    await service.deps.db.inLedgerTransaction((transaction) =>
      insertPasskey(service.deps.db, transaction, {
        ...{ id: newId('psk'), account_id: accountId, name, created_at: service.clock.now() },
        ...{ credential_id: newId('psk'), public_key: Buffer.from([0]), sign_count: 0 },
      }),
    );
    const made = await service.signedIn(holder, '/v1/webhooks', { body: wish });
    webhooks.push((made.body as { data: { id: string } }).data.id);
    await service.signedIn(holder, `/v1/webhooks/${webhooks[0]}/test`, { method: 'POST' });
    await service.deps.db.accounts.create({
      ...{ id: newId('acct'), email: holder.email, emailSignsIn: false, name: null },
      ...{ plan: 'pro', subscriptionState: 'active', createdAt: service.clock.now() },
    });
  }
  const usage = ['2026-11-18', '2026-11-19', '2026-11-20'].flatMap((day) =>
    ['series', 'funds'].map((endpoint) => ({
      account_id: accountId,
      key_id: 'key_of_owner',
      day,
      endpoint,
      status_class: 2,
      calls: 2,
      billed: 2,
    })),
  );
  await service.heartbeats.report({ usage });
  return { ...holder, webhookId: webhooks[0] ?? '' };
}

let owner: Owner;
let stranger: Owner;
test.before(async () => {
  owner = await newOwner();
  stranger = await newOwner();
  await newHolder(); // the third account of the database
});

const get = (path: string, headers: Record<string, string> = {}, who: SignedIn & Partial<Owner> = owner) =>
  path.startsWith('/v1/operator/')
    ? service.asOperator(who, path.replace(':id', who.accountId), { headers })
    : service.signedIn(who, path.replace(':id', who.webhookId ?? ''), { headers });
const listed = ({ body }: Answer) => body as ListBody;
const withQuery = (path: string, query: Record<string, string>) =>
  `${path}?${new URLSearchParams(query).toString()}`;
const cursorAt = async (path: string, sort: string, who = owner) =>
  String(listed(await get(withQuery(path, { sort, limit: '1' }), {}, who)).pagination.next_cursor);

test.serial('every list is covered by these tests', (t) => {
  t.deepEqual(lists.map(({ path }) => path).toSorted(), Object.keys(files).toSorted());
});

for (const { path, sorts, fields } of lists) {
  const file = memberOf(files, path);

  for (const sort of sorts) {
    test.serial(`pages of one row add up to the whole list, in its order: ${path} by ${sort}`, async (t) => {
      const whole = listed(await get(withQuery(path, { sort })));
      t.true(whole.data.length >= 3);
      t.is(whole.pagination.next_cursor, null);
      const seen: Row[] = [];
      let next: string | null = withQuery(path, { sort, limit: '1' });
      while (next !== null) {
        const answer: Answer = await get(next);
        seen.push(...listed(answer).data);
        t.is(listed(answer).count, 1);
        const link = /^<(.+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
        const cursor = link === null ? null : new URLSearchParams(link.split('?')[1]).get('cursor');
        t.is(cursor, listed(answer).pagination.next_cursor);
        next = link;
      }
      t.deepEqual(seen, whole.data);
    });
  }

  for (const sort of sorts.filter((each) => sorts.includes(`-${each}`))) {
    test.serial(`${sort} is the lowest first, -${sort} the same backwards: ${path}`, async (t) => {
      const up = listed(await get(withQuery(path, { sort }))).data;
      const down = listed(await get(withQuery(path, { sort: `-${sort}` }))).data;
      t.deepEqual(up, down.toReversed());
      const values = up.map((row) => String(row[sort]));
      t.deepEqual(values, values.toSorted());
    });
  }

  test.serial(`as CSV it is whole without a limit, and by pages with one: ${path}`, async (t) => {
    const { data } = listed(await get(path));
    const expected = [fields, ...data.map((row) => fields.map((field) => csvText(row[field])))];
    const whole = await get(withQuery(path, { format: 'csv' }));
    t.is(whole.headers.get('content-type'), 'text/csv; charset=utf-8');
    t.is(whole.headers.get('content-disposition'), `attachment; filename="${file}"`);
    t.is(whole.headers.get('link'), null);
    t.deepEqual(parse(String(whole.body)), expected);
    const first = await get(withQuery(path, { limit: '2' }), { accept: 'text/csv' });
    t.deepEqual(parse(String(first.body)), expected.slice(0, 3));
    const next = /^<(.+)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    const second = await get(next, { accept: 'text/csv' });
    t.deepEqual(parse(String(second.body)), [fields, ...expected.slice(3, 5)]);
  });

  test.serial(`rows show the requested fields, in the usual order: ${path}`, async (t) => {
    const [first = '', last = ''] = [fields[0], fields.at(-1)];
    const { data } = listed(await get(withQuery(path, { fields: `${last},${first}` })));
    for (const row of data) t.deepEqual(Object.keys(row), [first, last]);
    const answer = await get(withQuery(path, { fields: `${first},secret_hash` }));
    t.is(assertError(t, answer, 400, 'invalid_parameter').param, 'fields');
  });

  test.serial(
    `an answer that the Accept header does not allow is 406, unless the URL asks for it: ${path}`,
    async (t) => {
      const headers = { accept: 'text/html' };
      assertError(t, await get(path, headers), 406, 'not_acceptable');
      t.is((await get(withQuery(path, { format: 'csv' }), headers)).status, 200);
    },
  );

  test.serial(`a cursor is valid only for the same list in the same order: ${path}`, async (t) => {
    const [sort = '', other = ''] = sorts;
    const cursor = await cursorAt(path, sort);
    t.is((await get(withQuery(path, { sort, cursor }))).status, 200);
    const elsewhere = path.endsWith('/keys') ? '/v1/account/audit' : '/v1/keys';
    const wrong = [
      await get(withQuery(path, { sort: other, cursor })),
      await get(withQuery(elsewhere, { cursor })),
      await get(withQuery(path, { sort, cursor: `${cursor}A` })),
    ];
    for (const answer of wrong) t.is(assertError(t, answer, 400, 'invalid_cursor').param, 'cursor');
  });

  if (!ofNobody.includes(path))
    test.serial(`a cursor of another account is refused: ${path}`, async (t) => {
      const [sort = ''] = sorts;
      const cursor = await cursorAt(path, sort, stranger);
      t.is((await get(withQuery(path, { sort, cursor }), {}, stranger)).status, 200);
      assertError(t, await get(withQuery(path, { sort, cursor })), 400, 'invalid_cursor');
    });

  if (path === '/v1/plans') continue;
  test.serial(`the answer must not be cached: ${path}`, async (t) => {
    for (const format of ['json', 'csv']) {
      const { headers } = await get(withQuery(path, { format }));
      t.is(headers.get('cache-control'), 'no-store');
      t.is(headers.get('etag'), null);
    }
  });
}

test.serial('the plans may be cached for a minute, each representation with its own ETag', async (t) => {
  const paths = ['/v1/plans', '/v1/plans?format=csv', '/v1/plans?limit=1', '/v1/plans?sort=-price'];
  const etags = new Set<string>();
  for (const path of paths) {
    const { headers } = await service.anonymously(path);
    t.is(headers.get('cache-control'), 'public, max-age=60');
    const etag = headers.get('etag') ?? '';
    const again = await service.anonymously(path, { headers: { 'if-none-match': etag } });
    t.deepEqual([again.status, again.body], [304, '']);
    etags.add(etag);
  }
  t.is(etags.size, paths.length);
});

test.serial(
  'by status, keys that work come before those that have ended; each group from the newest',
  async (t) => {
    const { data } = listed(await get('/v1/keys?sort=status&fields=name,status'));
    t.deepEqual(
      data.map(({ name, status }) => [name, status]),
      [
        ['three', 'active'],
        ['two', 'active'],
        ['one', 'revoked'],
      ],
    );
  },
);

test.serial('a list that is longer than a page is whole as CSV', async (t) => {
  const holder = await newHolder();
  const { accountId } = holder;
  const event = { at: service.clock.now(), accountId, actorKind: 'operator', actorId: null } as const;
  await service.deps.db.auditEvents.bulkCreate(
    Array.from({ length: 2_100 }, (_, i) => ({
      ...event,
      action: 'account.updated' as const,
      subject: String(i),
      detail: {},
    })),
  );
  const csv = await get('/v1/account/audit?format=csv&fields=subject&sort=at', {}, holder);
  const [, ...subjects] = parse(String(csv.body)).flat();
  t.deepEqual(
    subjects.slice(-2_100),
    Array.from({ length: 2_100 }, (_, i) => String(i)),
  );
});
