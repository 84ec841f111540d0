// Services of three builds with one database: this tree, a copy of it in another directory, and a copy with a change in one source file.
import { cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import type { start as startAccounts } from '../../accounts-api/main.ts';
import type { start as startData } from '../../data-api/main.ts';
import { openDatabase } from '../../kernel/database.ts';
import { newestLoadPath, parseValidity, validityHeader } from '../../kernel/http/validity.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { projectRoot } from '../../kernel/project.ts';
import { loadCsv } from '../ingest/loading.ts';
import { exempt } from '../openapi/check-answers.ts';
import { proAccount } from '../services/data-service.ts';
import { createTestDatabase, fakeClock, silentLog, testIdentitySecret } from '../services/harness.ts';
import { projectPlans } from '../services/services.ts';
import { testSignIn } from '../services/sign-in.ts';

const clock = fakeClock('2026-06-15T12:00:00Z');
const shared = { identitySecret: testIdentitySecret, host: '127.0.0.1', port: 0, log: silentLog, clock };
let database: { url: string; drop(): Promise<void> };

test.before(async () => {
  exempt(); // its answers have headers that the gateway removes, and fields that are not declared
  database = await createTestDatabase();
  const on = openDatabase(database.url, silentLog, { applicationName: 'tests' });
  await loadCsv(on, ['series_id,date,value', 'CPI,2024-01,1', 'CPI,2024-02,2', 'CPI,2024-03,3'], {
    create: true,
    set: { frequency: 'monthly', unit: 'Index', source: 'Office' },
    clock,
  }).finally(() => on.close());
});
test.after.always(() => database?.drop());

/** A copy of the tree in another directory. @param changed a source file, and the replacement in it. */
function copyTree(changed?: { file: string; from: string; to: string }): string {
  const root = mkdtempSync(path.join(tmpdir(), 'almanac-build-'));
  for (const name of [
    'kernel',
    'domain',
    'data-api',
    'accounts-api',
    'config',
    'package.json',
    'package-lock.json',
  ])
    cpSync(path.join(projectRoot, name), path.join(root, name), { recursive: true });
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(root, 'node_modules'));
  if (changed !== undefined) {
    const file = path.join(root, changed.file);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(changed.from, changed.to));
    if (readFileSync(file, 'utf8') === text) throw new Error(`${changed.file} has no ${changed.from}`);
  }
  return root;
}

type Ask = (target: string, etag?: string) => Promise<Response>;

async function dataApiOf(t: ExecutionContext, root: string, publicUrl = 'https://almanac.example') {
  const main = pathToFileURL(path.join(root, 'data-api/main.ts')).href;
  const { start } = (await import(main)) as { start: typeof startData };
  const settings = { seriesTimeZone: 'UTC', publicUrl, previewPoints: 120, openRevisionsSeries: 'CPI' };
  const service = await start({ ...shared, ...settings, databaseUrl: database.url });
  t.teardown(() => service.close());
  await asking(service.url, 'data-api', { ...anonymous, scope: 'internal' })(newestLoadPath); // like gateways
  return asking(service.url, 'data-api', proAccount);
}

async function accountsApiOf(t: ExecutionContext, root: string) {
  const main = pathToFileURL(path.join(root, 'accounts-api/main.ts')).href;
  const { start } = (await import(main)) as { start: typeof startAccounts };
  const settings = { plans: projectPlans(), signIn: testSignIn, redisUrl: undefined };
  const service = await start({ ...shared, ...settings, databaseUrl: database.url });
  t.teardown(() => service.close());
  return asking(service.url, 'accounts-api', anonymous);
}

function asking(url: string, service: 'data-api' | 'accounts-api', identity: typeof anonymous): Ask {
  const seal = createSealer(testIdentitySecret, service);
  return (target, etag) =>
    fetch(url + target, {
      headers: {
        [identityHeader]: seal(identity, 'GET', target),
        ...(etag !== undefined && { 'if-none-match': etag }),
      },
    });
}

const ofData = [
  '/v1/series/CPI',
  '/v1/series/CPI?format=csv',
  '/v1/series/CPI?vintage=2026-06-15&version=1',
  '/v1/series/CPI/latest',
  '/v1/series?ids=CPI',
  '/v1/series/CPI/vintages',
  '/v1/series/CPI/triangle',
  '/v1/series/CPI/cite',
  '/v1/series/CPI/chart.svg',
  '/v1/catalog',
  '/v1/catalog/CPI',
  '/v1/catalog/CPI/preview',
  '/v1/catalog/CPI/chart.svg',
  '/v1/search?q=cpi',
  '/v1/calendar',
  '/v1/funds',
  '/v1/trade',
];

const editionOf = (answer: Response) =>
  parseValidity(answer.headers.get(validityHeader) ?? '')?.state.edition;

/** Checks that the other build confirms the ETags of the old build's answers, or, without `isSame`, that it does not. */
async function compare(
  t: ExecutionContext,
  targets: readonly string[],
  asks: { old: Ask; other: Ask },
  isSame: boolean,
) {
  for (const target of targets) {
    const old = await asks.old(target);
    const etag = old.headers.get('etag') ?? '';
    t.is(old.status, 200, `${target}: ${await old.clone().text()}`);
    t.not(etag, '', target);
    const other = await asks.other(target, etag);
    t.is(other.status, isSame ? 304 : 200, target);
    t.is(other.headers.get('etag') === etag, isSame, target);
    t.is(editionOf(other) === editionOf(old), isSame, `the edition of ${target}`);
  }
}

const schema = { file: 'data-api/series/series-schema.ts', from: 'name: z.string(),', to: 'name: text,' };

test.serial(
  'an answer of another build has another ETag, and the gateway sees another edition',
  async (t) => {
    const old = await dataApiOf(t, projectRoot);
    t.not(editionOf(await old('/v1/series/CPI')), undefined);
    await compare(t, ofData, { old, other: await dataApiOf(t, copyTree(schema)) }, false);
  },
);

test.serial(
  'instances of the same build and settings have the same ETags, wherever their files are',
  async (t) => {
    const old = await dataApiOf(t, projectRoot);
    await compare(t, ofData, { old, other: await dataApiOf(t, copyTree()) }, true);
  },
);

test.serial('a change of a setting that an answer depends on changes its ETag', async (t) => {
  const old = await dataApiOf(t, projectRoot);
  const other = await dataApiOf(t, projectRoot, 'https://moved.example');
  await compare(t, ['/v1/series/CPI/cite', '/v1/catalog/CPI'], { old, other }, false);
});

test.serial('an answer of accounts-api that may be stored has another ETag in another build', async (t) => {
  const old = await accountsApiOf(t, projectRoot);
  const targets = ['/v1/plans', '/v1/plans?format=csv'];
  const plans = { file: 'kernel/plans.ts', from: 'z.strictObject({', to: 'z.looseObject({' };
  for (const [changed, isSame] of [
    [plans, false],
    [undefined, true],
  ] as const) {
    const other = await accountsApiOf(t, copyTree(changed));
    for (const target of targets) {
      const etag = (await old(target)).headers.get('etag') ?? '';
      t.is((await other(target, etag)).status, isSame ? 304 : 200, target);
    }
  }
});
