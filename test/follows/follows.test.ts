// Follows: what can be followed, by which accounts, and how many; and the links that end a follow.
import test from 'ava';
import { createUnsubscribeTokens } from '../../accounts-api/follows/unsubscribe-tokens.ts';
import { testIdentitySecret } from '../services/harness.ts';
import { codeOf } from '../auth/people.ts';
import { followStage, minute, type Holder } from './stage.ts';

const stage = await followStage();
const { clock, deps, services, ask, follow, load, look, mailsTo, newHolder } = stage;
test.before(() => load([['CPI', '2026-01', 1], ['GDP', '2026-01', 1]])); // prettier-ignore
test.after.always(() => stage.close());

const errorOf = ({ json }: { json: unknown }) =>
  (json as { error: { code: string; message: string; param?: string } }).error;
const listOf = async (holder: Holder) =>
  ((await ask(holder, 'GET', '/v1/follows')).json as { data: Record<string, unknown>[] }).data;
const tokens = createUnsubscribeTokens([testIdentitySecret]);

test.serial('a follow is listed with the name of its series, changed and ended', async (t) => {
  const holder = await newHolder();
  const made = await ask(holder, 'POST', '/v1/follows', { kind: 'series', of: 'CPI' });
  t.is(made.status, 201);
  const { data } = made.json as { data: { id: string } };
  t.deepEqual(data as object, {
    ...{ id: data.id, kind: 'series', of: 'CPI', name: 'CPI', mode: 'at_once' },
    ...{ created_at: '2026-11-20T10:00:00Z', mailed_at: null },
  });
  const changed = await ask(holder, 'PATCH', `/v1/follows/${data.id}`, { mode: 'daily' });
  t.deepEqual((changed.json as { data: object }).data, { ...data, mode: 'daily' });
  t.deepEqual(await listOf(holder), [{ ...data, mode: 'daily' }]);
  const stranger = await newHolder();
  for (const method of ['PATCH', 'DELETE'])
    t.is(
      codeOf(
        await ask(
          stranger,
          method,
          `/v1/follows/${data.id}`,
          method === 'PATCH' ? { mode: 'daily' } : undefined,
        ),
      ),
      'not_found',
    );
  t.is((await ask(holder, 'DELETE', `/v1/follows/${data.id}`)).status, 204);
  t.deepEqual(await listOf(holder), []);
});

test.serial(
  'what is followed already is answered 200, with the new mode, however many ask at once',
  async (t) => {
    const holder = await newHolder();
    const wish = { kind: 'source', of: 'Tests', mode: 'daily' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => ask(holder, 'POST', '/v1/follows', wish)),
    );
    t.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 200, 201]);
    const again = await ask(holder, 'POST', '/v1/follows', { ...wish, mode: 'at_once' });
    t.is(again.status, 200);
    t.like(await listOf(holder), [{ of: 'Tests', mode: 'at_once', name: null }]);
    t.is((await listOf(holder)).length, 1);
  },
);

for (const [body, status, code, message] of [
  [
    { kind: 'series', of: 'NONE' },
    404,
    'not_found',
    'There is no series "NONE". Find its id with GET /v1/search.',
  ],
  [
    { kind: 'source', of: 'tests' },
    404,
    'not_found',
    'There is no source "tests". GET /v1/sources lists all of them.',
  ],
  [
    { kind: 'search', of: '--- !' },
    400,
    'invalid_body',
    '"of" must have a word to search for; "--- !" has none.',
  ],
  [
    { kind: 'search', of: 'a'.repeat(201) },
    400,
    'invalid_body',
    '"of" must not be longer than 200 characters for a search.',
  ],
  [
    { kind: 'fund', of: 'X' },
    400,
    'invalid_body',
    '"kind" is "fund", but must be one of series, source, search.',
  ],
  [
    { kind: 'series', of: 'CPI', mode: 'hourly' },
    400,
    'invalid_body',
    '"mode" is "hourly", but must be one of at_once, daily.',
  ],
  [
    { kind: 'series', of: ' ' },
    400,
    'invalid_body',
    '"of" must be text of 1 to 500 characters, without control characters.',
  ],
  [
    { kind: 'series', of: 'C\u0000PI' },
    400,
    'invalid_body',
    '"of" must be text of 1 to 500 characters, without control characters.',
  ],
] as const)
  // prettier-ignore
  test.serial(`it is refused: ${JSON.stringify(body).slice(0, 60)}`, async (t) => {
    const answer = await ask(await newHolder(), 'POST', '/v1/follows', body);
    t.is(answer.status, status);
    t.like(errorOf(answer), { code, message });
  });

test.serial('an account has at most 200 follows', async (t) => {
  const holder = await newHolder();
  for (let n = 0; n < 199; n += 1) await follow(t, holder, { kind: 'search', of: `word${n}` });
  const last = ['CPI', 'GDP'].map((of) => ask(holder, 'POST', '/v1/follows', { kind: 'series', of }));
  t.deepEqual((await Promise.all(last)).map(({ status }) => status).toSorted(), [201, 409]);
  const refused = await ask(holder, 'POST', '/v1/follows', { kind: 'search', of: 'more' });
  t.is(errorOf(refused).message, 'This account already has 200 follows. Delete one to create another.');
  t.is(
    (await ask(holder, 'POST', '/v1/follows', { kind: 'search', of: 'word0' })).status,
    200,
    'it is one of them',
  );
});

test.serial(
  'a visitor has no follows, and a key that only reads data neither reads nor changes them',
  async (t) => {
    t.is(codeOf(await services.call('/v1/follows')), 'unauthorized');
    const holder = await newHolder();
    const body = { name: 'data only', scopes: ['data'] };
    const made = (await ask(holder, 'POST', '/v1/keys', body)).json as { data: { key: string } };
    const narrow = { key: made.data.key };
    t.is(codeOf(await ask(narrow, 'GET', '/v1/follows')), 'forbidden');
    t.is(codeOf(await ask(narrow, 'POST', '/v1/follows', { kind: 'series', of: 'CPI' })), 'forbidden');
  },
);

test.serial(
  'the links of an e-mail end one follow or all by a POST without a credential; a GET ends none',
  async (t) => {
    const holder = await newHolder();
    for (const id of ['CPI', 'GDP']) await follow(t, holder, { kind: 'series', of: id });
    clock.advance(minute);
    await load([['CPI', '2026-02', 1]]);
    await look();
    const [mail] = mailsTo(holder);
    const raw = (mail?.raw ?? '').replaceAll(/\r\n[ \t]+/g, ' ');
    t.regex(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    const all =
      /^List-Unsubscribe: <https:\/\/almanac\.example(\/v1\/unsubscribe\?token=acct_\S+)>\r$/m.exec(
        raw,
      )?.[1] ?? '';
    const [one] = [...(mail?.text ?? '').matchAll(/unsubscribe#token=(flw_\S+)/g)].map(([, token]) => token);

    const shown = await services.call(all, { redirect: 'manual' });
    t.is(shown.status, 302);
    t.is(
      shown.headers.get('location'),
      `https://almanac.example/dashboard/unsubscribe#token=${all.split('=')[1]}`,
    );
    t.is((await listOf(holder)).length, 2);

    const post = (target: string, type: string, body: string) =>
      services.call(target, { method: 'POST', body, headers: { 'content-type': type } });
    const form = 'application/x-www-form-urlencoded';
    const oneClick = 'List-Unsubscribe=One-Click';
    const ofOne = `/v1/unsubscribe?token=${one}`;
    t.deepEqual((await post(ofOne, form, oneClick)).json, { success: true, data: { ended: 1 } });
    t.like(await listOf(holder), [{ of: 'GDP' }]);
    t.deepEqual((await post(ofOne, form, oneClick)).json, { success: true, data: { ended: 0 } });
    const multipart = `--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n`;
    t.is((await post(all, 'multipart/form-data; boundary=b', multipart)).status, 200);
    t.deepEqual(await listOf(holder), []);
  },
);

test.serial('a link that was changed, or is of another installation, ends nothing', async (t) => {
  const holder = await newHolder();
  const id = await follow(t, holder, { kind: 'series', of: 'CPI' });
  const right = tokens.of(id as `flw_${string}`);
  const other = createUnsubscribeTokens(['another secret']);
  const [, signature = ''] = right.split('.');
  for (const token of [
    `${holder.accountId}.${signature}`,
    other.of(id as `flw_${string}`),
    right.slice(0, -1),
    `${right}A`,
    id,
    '.',
  ]) {
    const answer = await services.call(`/v1/unsubscribe?token=${token}`, { method: 'POST' });
    t.like([answer.status, codeOf(answer)], [410, 'gone'], token);
  }
  t.is(codeOf(await services.call('/v1/unsubscribe', { method: 'POST' })), 'invalid_parameter');
  t.is((await listOf(holder)).length, 1);
  t.is(
    createUnsubscribeTokens(['a new secret', testIdentitySecret]).read(right),
    id as `flw_${string}`,
    'an earlier secret is known while it is set',
  );
  t.is(await deps.db.follows.count({ where: { id } }), 1);
});
