// The readers of the series that is loaded again and again: they ask every gateway for it by several endpoints, and judge each answer. It must be
// at least as new as the newest load that was reported as done before the call began. Hides how an answer states its load.
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Answer, Caller, Question } from './calls.ts';
import { callRepeatedly, type Load, type LoadOptions } from './load.ts';
import { tick, type Publisher } from './publisher.ts';
import type { Service } from './units.ts';

export interface FreshOptions extends LoadOptions {
  who: readonly Caller[];
  publisher: Publisher;
  /** How long the run is. */
  seconds: number;
}

export interface Fresh extends Load {
  /** Calls every gateway, like a client that waited for a load. */
  callAllGateways(): void;
  /** Calls somewhere, as the webhook endpoint that was notified of a load. */
  callAsNotified(load: number): void;
  /** Resolves when all calls of the endpoint that was notified are answered. */
  allAnswered(): Promise<void>;
  /** The faults in answers to the notified endpoint, and whether enough was judged. Call this when everything has stopped. */
  faults(): string[];
  summary(): string[];
}

/** A way to ask for the series. */
interface ReadRequest {
  name: string;
  path: string;
  method?: 'GET' | 'HEAD';
  headers?: Record<string, string>;
  /** Sends an ETag of a former answer. */
  knowsEtag?: boolean;
  isPublic?: boolean;
  calls: number;
}

const series = `/v1/series/${tick.id}`;
const readRequests: readonly ReadRequest[] = [
  { name: 'series', path: series, calls: 1 },
  { name: 'If-None-Match', path: series, knowsEtag: true, calls: 1 },
  { name: 'gzip', path: series, headers: { 'accept-encoding': 'gzip' }, calls: 1 },
  { name: 'HEAD', path: series, method: 'HEAD', calls: 1 },
  { name: 'latest', path: `${series}/latest`, calls: 1 },
  { name: 'list', path: `/v1/series?ids=SHORT,${tick.id}&from=${tick.date}`, calls: 2 },
  { name: 'preview', path: `/v1/catalog/${tick.id}/preview`, isPublic: true, calls: 0 },
  { name: 'previews', path: `/v1/previews?ids=${tick.id}`, isPublic: true, calls: 0 },
];
/** Each answer contains its value. */
const withBody = readRequests.filter(({ method, knowsEtag }) => method !== 'HEAD' && knowsEtag !== true);
const visitor: Caller = { accountId: 'nobody', key: '' };
const readersCount = 8;
/** At each gateway, when a load is reported. */
const callsPerGateway = 4;
/** A stale answer would be found above all in calls that begin so soon after a report. */
const soonMs = 500;
/** The least share of hits for each request, and the least judged answers: a run with fewer proves nothing. */
const hitsMin = 1 / 10;
const judgedMinPerSecond = 1;

interface Count {
  judged: number;
  hits: number;
  /** Of the hits, those soon after a report. */
  soonHits: number;
}

export function readFresh(options: FreshOptions): Fresh {
  const { clients, gateways, publisher } = options;
  const counts = new Map<ReadRequest, Count>(
    readRequests.map((readRequest) => [readRequest, { judged: 0, hits: 0, soonHits: 0 }]),
  );
  const etags = createEtags();
  const reported: { load: number; value: number; atMs: number; gateway: string }[] = [];
  const lateFaults: string[] = [];
  const random = options.random.fork();
  const inFlight = new Set<Promise<unknown>>();
  let stopped = false;

  const ask = (readRequest: ReadRequest) => ({
    who: readRequest.isPublic === true ? visitor : random.pick(options.who),
    question: questionOf(readRequest),
    allowed: readRequest.knowsEtag === true ? [304] : [],
  });

  function questionOf(
    readRequest: ReadRequest,
    onValue: (value: number) => void = () => undefined,
  ): Question {
    const { path, method, headers, calls } = readRequest;
    const etag = readRequest.knowsEtag === true ? etags.some(random.below(3)) : undefined;
    return {
      ...{ path, calls, status: 200 },
      ...(method && { method }),
      headers: { ...headers, ...(etag !== undefined && { 'if-none-match': etag }) },
      judge(answer) {
        const judgeLater = (value: number) =>
          void lateFaults.push(...[judge(readRequest, answer, value) ?? []].flat());
        const value = etags.valueOf(path, answer, judgeLater);
        if (typeof value !== 'number') return value;
        onValue(value);
        return judge(readRequest, answer, value);
      },
    };
  }

  function judge(readRequest: ReadRequest, { startedAtMs, isHit }: Answer, value: number): string | null {
    const { value: needed, atMs, load } = publisher.doneBefore(startedAtMs);
    const count = counts.get(readRequest) as Count;
    count.judged += 1;
    if (isHit) count.hits += 1;
    if (isHit && startedAtMs - atMs < soonMs) count.soonHits += 1;
    if (value > publisher.newestStarted) return `value ${value} was answered, which was never loaded`;
    if (value >= needed) return null;
    const where = isHit ? 'memory' : 'data-api';
    return `value ${value} was answered from ${where} to a call that began at ${startedAtMs.toFixed(1)} ms; ${needed}, of load ${load ?? 'unknown'}, was reported as done at ${atMs.toFixed(1)} ms`;
  }

  function track(call: Promise<unknown>): void {
    inFlight.add(call);
    void call.finally(() => inFlight.delete(call));
  }

  const loops = Array.from({ length: readersCount }, () =>
    callRepeatedly(
      options,
      random.fork(),
      () => !stopped,
      () => ask(random.pick(readRequests)),
    ),
  );
  return {
    callAllGateways() {
      for (const gateway of gateways)
        for (let i = 0; i < callsPerGateway; i += 1) {
          const { who, question, allowed } = ask(random.pick(readRequests));
          track(clients.ask(gateway, who, question, allowed));
        }
    },
    callAsNotified(load) {
      const gateway = random.pick<Service>(gateways);
      const atMs = performance.now();
      const onValue = (value: number) => void reported.push({ load, value, atMs, gateway: gateway.name });
      const readRequest = random.pick(withBody);
      track(clients.ask(gateway, ask(readRequest).who, questionOf(readRequest, onValue)));
    },
    async stop() {
      stopped = true;
      await Promise.all(loops);
    },
    async allAnswered() {
      await Promise.all(inFlight);
    },
    faults: () => [
      ...lateFaults,
      ...faultsOfNotified(reported, publisher),
      ...tooFew(counts, reported.length, options.seconds),
    ],
    summary: () => summaryOf(counts, reported.length, publisher),
  };
}

/** The value for each ETag. */
function createEtags() {
  const values = new Map<string, number>();
  const waiting = new Map<string, ((value: number) => void)[]>();
  const ofSeries: string[] = []; // the newest last
  return {
    /** @param back 0: the newest of the series. */
    some: (back: number): string | undefined => ofSeries.at(-1 - back),
    /**
     * @returns the value or a fault; null: an answer without a body has an ETag that no answer with a body had yet.
     * @param onKnown called with the value when one does.
     */
    valueOf(path: string, { status, headers, body }: Answer, onKnown: (value: number) => void) {
      const etag = String(headers['etag']);
      const name = `${path} ${etag}`;
      const known = values.get(name);
      if (status === 304 || body.length === 0) {
        if (known === undefined) waiting.set(name, [...(waiting.get(name) ?? []), onKnown]);
        return known ?? null;
      }
      const value = valueIn(textOf(headers, body));
      if (value === undefined) return `it does not name the point: ${body.toString().slice(0, 300)}`;
      if (known === value) return value;
      if (known !== undefined) return `the ETag ${etag} was that of ${known}, and is that of ${value}`;
      values.set(name, value);
      for (const report of waiting.get(name) ?? []) report(value);
      waiting.delete(name);
      if (path === series && headers['content-encoding'] === undefined) ofSeries.push(etag);
      return value;
    },
  };
}

function textOf(headers: Answer['headers'], body: Buffer): string {
  const encoding = headers['content-encoding'];
  if (encoding === 'gzip') return gunzipSync(body).toString();
  return (encoding === 'br' ? brotliDecompressSync(body) : body).toString();
}

function valueIn(text: string): number | undefined {
  const found = new RegExp(`"date":"${tick.date}"[^}]*?"value":(\\d+)[,}]`).exec(text);
  return found === null ? undefined : Number(found[1]);
}

function faultsOfNotified(
  reported: readonly { load: number; value: number; atMs: number; gateway: string }[],
  { done }: Publisher,
): string[] {
  return reported.flatMap(({ load, value, atMs, gateway }) => {
    const needed = done.findLast((one) => one.load !== undefined && one.load <= load)?.value ?? tick.value;
    if (value >= needed) return [];
    return `${gateway} answered value ${value} to the endpoint that was notified of load ${load}, of ${needed}, at ${atMs.toFixed(1)} ms`;
  });
}

function tooFew(counts: ReadonlyMap<ReadRequest, Count>, reported: number, seconds: number): string[] {
  const judgedMin = judgedMinPerSecond * seconds;
  const few = [...counts].filter(([, { judged, hits }]) => judged < judgedMin || hits < judged * hitsMin);
  return [
    ...few.map(
      ([{ name }, { judged, hits }]) =>
        `too few fresh reads by ${name}: ${judged}, ${hits} of them from memory`,
    ),
    ...(reported === 0 ? ['no call of the webhook endpoint was answered'] : []),
  ];
}

function summaryOf(
  counts: ReadonlyMap<ReadRequest, Count>,
  reported: number,
  { done, failed }: Publisher,
): string[] {
  const sum = (of: keyof Count) => [...counts.values()].reduce((total, count) => total + count[of], 0);
  const each = [...counts].map(([{ name }, { judged, hits }]) => `${name} ${hits}/${judged}`);
  return [
    `fresh: ${done.length} loads were reported as done, ${failed} failed; ${sum('judged')} answers judged, ${sum('hits')} of them from memory, ${sum('soonHits')} of those in the ${soonMs} ms after a report; ${reported} of the endpoint that was notified`,
    `       from memory: ${each.join(', ')}`,
  ];
}
