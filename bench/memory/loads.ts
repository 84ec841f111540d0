// The loads for measuring the services' memory: the most expensive requests that clients and jobs can make of each.
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../accounts-api/database.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { createLog } from '../../kernel/log/log.ts';
import { anonymous, createSealer, identityHeader } from '../../kernel/identity.ts';
import { identitySecret, sealed, seriesPath, type Ground } from '../gateway/ground.ts';
import type { Program } from '../gateway/processes.ts';
import { enqueueSignUps } from '../mail.ts';

/** A series of 300,000 points. */
export const streamedSeries = 'PLACES';
const demoPath = '/v1/series/DEMO.CPI';
const secondsMax = 8;
const connections = 64;
/** Answers of 300 points, 12 kB: more than a gateway caches. */
const keptAnswers = 7_000;
const streamsAtOnce = 4;
const signInsAtOnce = 300;
const mails = 2_000;

const agent = new http.Agent({ keepAlive: true });
const seal = createSealer(identitySecret, 'accounts-api');

type Headers = Record<string, string>;
/** How often each status was answered; `cut off`: a connection that ended before the answer did. On a busy machine not all answers are 200. */
export type Tally = Map<string, number>;

/** The same call repeatedly, then calls that each read other points, then long streams and charts. */
export async function loadDataApi({ readyOutput }: Program): Promise<Tally> {
  const tally: Tally = new Map();
  await ask(tally, { url: readyOutput, headers: sealed, nextPath: () => seriesPath });
  await ask(tally, { url: readyOutput, headers: sealed, nextPath: newPath });
  await stream(tally, readyOutput, sealed);
  await ask(tally, {
    url: readyOutput,
    headers: sealed,
    nextPath: newChart,
    connections: 1,
    requestsMax: 300,
  });
  return tally;
}

/** Sign-ins of strangers, each from its own IP address; the passwords are hashed. */
export async function loadAccountsApi({ readyOutput }: Program): Promise<Tally> {
  const tally: Tally = new Map();
  let count = 0;
  const untilMs = performance.now() + secondsMax * 1000;
  const signIn = async () => {
    while (performance.now() < untilMs) {
      count += 1;
      const address = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
      const headers = {
        [identityHeader]: seal(anonymous, 'POST', '/auth/login'),
        'x-forwarded-for': address,
      };
      const body = { email: `flood-${count}@example.org`, password: 'four words of a stranger' };
      const status = await answer(tally, `${readyOutput}/auth/login`, headers, body);
      if (status === '503') await pause(100); // too many are waiting
    }
  };
  await Promise.all(Array.from({ length: signInsAtOnce }, signIn));
  return tally;
}

/** Fills the response cache; then long streams together with hot and cold calls. */
export async function loadGateway({ readyOutput: url }: Program, { keys }: Ground): Promise<Tally> {
  const tally: Tally = new Map();
  const [a, b, c] = keys.map((key) => () => ({ 'x-api-key': key }));
  const paths = Array.from({ length: keptAnswers }, (_, i) => `${seriesPath}?to=${dayText(2026, i)}`);
  let next = 0;
  const nextPath = () => paths[(next += 1) % paths.length] ?? seriesPath;
  // An answer is cached from its second request on.
  await ask(tally, { url, headers: a, nextPath, requestsMax: 2 * keptAnswers, secondsMax: 120 });
  await Promise.all([ask(tally, { url, headers: b, nextPath }), stream(tally, url, c)]);
  await ask(tally, { url, headers: c, nextPath: newPath });
  return tally;
}

/** E-mails that wait to be sent. */
export async function loadWorker(databaseUrl: string, outbox: string): Promise<Tally> {
  const db = connect(databaseUrl);
  const jobs = openJobs(db.sequelize, databaseUrl, createLog('bench', 'warn'));
  await enqueueSignUps({ db, jobs }, mails);
  while (!existsSync(outbox) || readdirSync(outbox).length < mails) await pause(50);
  await jobs.close();
  await db.close();
  return new Map([['sent', mails]]);
}

/** The first series of the demo, repeatedly, and sign-ins of strangers. */
export async function loadEverything(started: Program): Promise<Tally> {
  const tally: Tally = new Map();
  await ask(tally, { ...demoOf(started), nextPath: () => demoPath });
  const signIns = await loadAccountsApi({ ...started, readyOutput: demoOf(started).url });
  return new Map([...tally, ...signIns]);
}

/** @returns once the demo has answered. */
export async function askDemo(started: Program): Promise<Tally> {
  const tally: Tally = new Map();
  await ask(tally, { ...demoOf(started), nextPath: () => demoPath, connections: 1, requestsMax: 1 });
  return tally;
}

function demoOf({ readyOutput }: Program): { url: string; headers: () => Headers } {
  const [url = '', key = ''] = readyOutput.split(/\s+API key: /);
  return { url, headers: () => ({ 'x-api-key': key }) };
}

interface Asking {
  url: string;
  /** @param target the path with its query, which an identity is sealed for. */
  headers: ((target: string) => Headers) | undefined;
  nextPath: () => string;
  connections?: number;
  requestsMax?: number;
  secondsMax?: number;
}

/** Sends requests until this many are answered, or this much time has passed. */
async function ask(tally: Tally, { url, headers = () => ({}), nextPath, ...bounds }: Asking): Promise<void> {
  let left = bounds.requestsMax ?? Number.POSITIVE_INFINITY;
  const untilMs = performance.now() + (bounds.secondsMax ?? secondsMax) * 1000;
  const connection = async () => {
    while (left > 0 && performance.now() < untilMs) {
      left -= 1;
      const target = nextPath();
      await read(tally, url + target, headers(target));
    }
  };
  await Promise.all(Array.from({ length: bounds.connections ?? connections }, connection));
}

let reads = 0;

function newPath(): string {
  return `${seriesPath}?to=${dayText(2100, (reads += 1) % 1_000_000)}`;
}

function newChart(): string {
  return `${seriesPath}/chart.png?to=${dayText(2100, (reads += 1) % 1_000_000)}`;
}

async function stream(
  tally: Tally,
  url: string,
  headers: (target: string) => Headers = () => ({}),
): Promise<void> {
  const encodings = Array.from({ length: streamsAtOnce }, (_, i) => (i % 2 === 0 ? 'identity' : 'gzip'));
  const target = `/v1/series/${streamedSeries}?format=csv`;
  await Promise.all(
    encodings.map((encoding) =>
      read(tally, url + target, { ...headers(target), 'accept-encoding': encoding }),
    ),
  );
}

/** A call that must be accepted. @throws Error if it is refused: a load of refusals measures nothing. */
async function read(tally: Tally, url: string, headers: Headers): Promise<void> {
  const status = await answer(tally, url, headers);
  if (status.startsWith('4')) throw new Error(`${url} was refused: ${status}.`);
}

/** One call, read to its end. @returns its status. */
async function answer(tally: Tally, url: string, headers: Headers, body?: object): Promise<string> {
  const request = http.request(url, {
    agent,
    method: body === undefined ? 'GET' : 'POST',
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
  });
  const text = JSON.stringify(body);
  request.end(text);
  let status = 'cut off';
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    for await (const chunk of response) void chunk;
    status = String(response.statusCode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNRESET')) throw error;
  }
  tally.set(status, (tally.get(status) ?? 0) + 1);
  return status;
}

/** `YYYY-MM-DD`, this many days after the beginning of a year. */
function dayText(year: number, days: number): string {
  return new Date(Date.UTC(year, 0, 1 + days)).toISOString().slice(0, 10);
}
