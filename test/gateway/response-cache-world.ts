// The response cache of a gateway in virtual time: the real lease, policy, captures and cached answers, with a model of data-api, of the loader and
// of the network. The gateway can stall between any two events, and wherever it reads a clock.
import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { openCall, type Call } from '../../gateway/call.ts';
import { createDataLease } from '../../gateway/response-cache/lease.ts';
import { responseCache } from '../../gateway/policies/response-cache.ts';
import type { Policy } from '../../gateway/policy.ts';
import { createAnswerCache } from '../../gateway/response-cache/answer-cache.ts';
import { anonymous } from '../../kernel/identity.ts';
import { answerLeaseMs, visibleAfterMs, validityText, type DataState } from '../../kernel/http/validity.ts';
import { createRandom } from '../chaos/random.ts';
import { silentLog } from '../services/harness.ts';

/** The events and their times. Everything else comes from the seed: latencies, losses, and stalls at reads of a clock. */
export interface History {
  seed: number;
  /** `of`: the changed series. A load is visible at `atMs`; the loader learns of its commit later, and reports it `visibleAfterMs` after that. */
  loads: readonly { atMs: number; learnedAfterMs: number; of: readonly Series[] }[];
  calls: readonly PlannedCall[];
  /** Times at which the gateway is paused. */
  stalls: readonly { atMs: number; forMs: number }[];
  /** Changes of the gateway's clock. */
  clocks: readonly { atMs: number; byMs: number }[];
  /** Restarts of an instance of data-api: it then knows of no load, and may have another version. */
  restarts: readonly { atMs: number; instance: number; edition: string }[];
  /** The maximum latency of each transmission and each read of the database. */
  latencyMaxMs: number;
  lossPercent: number;
  /** The probability that a read of a clock stalls the gateway. */
  stallPermille: number;
}

export type Series = 'A' | 'B';

interface PlannedCall {
  atMs: number;
  /** The time until it reaches the gateway. */
  forMs: number;
  series: Series;
  /** `with an ETag`: sends the ETag of the previous answer. `leaves`: the client may leave before the answer arrives. */
  how: 'plain' | 'with an ETag' | 'HEAD' | 'leaves';
}

/** A call that was answered. */
interface Judged {
  series: Series;
  beganAtMs: number;
  /** The load that its answer must include, and the load that the answer is from. */
  needed: number;
  given: number;
  isHit: boolean;
}

export interface Outcome {
  judged: readonly Judged[];
  /** Descriptions of the calls that got an outdated answer, or a body that does not match its ETag. */
  wrong: readonly string[];
}

interface Instance {
  edition: string;
  known: DataState | undefined;
}

interface Happening {
  atMs: number;
  run: () => void;
  /** Whether it is delayed while the gateway is stalled. */
  ofGateway: boolean;
}

const lastsMs = 6_000;
const epochMs = Date.UTC(2026, 10, 20);
const urls: Record<Series, string> = { A: '/v1/series/A', B: '/v1/series/B' };

/** Runs a history. */
export async function happen(history: History): Promise<Outcome> {
  return new World(history).run();
}

class World {
  readonly #history: History;
  readonly #random;
  readonly #queue: Happening[] = [];
  readonly #policy: Policy;
  readonly #closeLease: () => void;
  readonly #instances: Instance[] = [0, 1].map(() => ({ edition: 'one', known: undefined }));
  readonly #judged: Judged[] = [];
  readonly #wrong: string[] = [];
  readonly #lastEtag = new Map<Series, string>();
  #nowMs = 0;
  #awakeAtMs = 0;
  #clockMs = 0;
  #visible = 0;
  #reported = 0;

  constructor(history: History) {
    this.#history = history;
    this.#random = createRandom(history.seed);
    const source = {
      ask: () => this.#askNewest(),
      now: () => this.#read(() => this.#nowMs),
      after: (ms: number, run: () => void) => this.#at(this.#nowMs + ms, run, true),
    };
    const lease = createDataLease(source, silentLog, 1_000);
    this.#closeLease = () => lease.close();
    this.#policy = responseCache({
      lease,
      answers: createAnswerCache(1024 * 1024),
      clock: { now: () => new Date(this.#read(() => epochMs + this.#nowMs + this.#clockMs)) },
    });
  }

  async run(): Promise<Outcome> {
    const { loads, calls, stalls, clocks, restarts } = this.#history;
    for (const [i, load] of loads.entries()) this.#at(load.atMs, () => this.#commit(i + 1));
    for (const call of calls) this.#at(call.atMs, () => this.#begin(call));
    for (const { atMs, forMs } of stalls)
      this.#at(atMs, () => void (this.#awakeAtMs = Math.max(this.#awakeAtMs, atMs + forMs)));
    for (const { atMs, byMs } of clocks) this.#at(atMs, () => void (this.#clockMs += byMs));
    for (const { atMs, instance, edition } of restarts)
      this.#at(atMs, () => void (this.#instances[instance] = { edition, known: undefined }));
    for (let next = this.#next(lastsMs); next !== undefined; next = this.#next(lastsMs)) {
      next.run();
      if (next.ofGateway) await turns();
    }
    this.#closeLease();
    return { judged: this.#judged, wrong: this.#wrong };
  }

  /** @returns cancels it. */
  #at(atMs: number, run: () => void, ofGateway = false): () => void {
    const happening = { atMs, run, ofGateway };
    const place = this.#queue.findLastIndex((other) => other.atMs <= atMs) + 1;
    this.#queue.splice(place, 0, happening);
    return () => {
      const at = this.#queue.indexOf(happening);
      if (at >= 0) this.#queue.splice(at, 1);
    };
  }

  /** Removes and returns the next event up to a time; events of the gateway only while it is not stalled. */
  #next(untilMs: number): Happening | undefined {
    for (;;) {
      const [next] = this.#queue;
      if (next === undefined || next.atMs > untilMs) return undefined;
      this.#queue.shift();
      if (next.ofGateway && next.atMs < this.#awakeAtMs) {
        this.#at(this.#awakeAtMs, next.run, true);
        continue;
      }
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      return next;
    }
  }

  /** A read of a clock by the gateway. Before or after it the gateway may stall, while everything else continues. */
  #read<Result>(clock: () => Result): Result {
    if (this.#random.below(1_000) >= this.#history.stallPermille) return clock();
    const before = clock();
    this.#awakeAtMs = this.#nowMs + this.#random.below(1_200);
    for (let next = this.#next(this.#awakeAtMs); next !== undefined; next = this.#next(this.#awakeAtMs)) {
      if (next.ofGateway) {
        this.#at(this.#awakeAtMs, next.run, true);
        break; // the remaining events are due later
      }
      next.run();
    }
    this.#nowMs = Math.max(this.#nowMs, this.#awakeAtMs);
    return this.#random.below(2) === 0 ? before : clock();
  }

  #latency(): number {
    return this.#random.below(2) === 0
      ? this.#random.below(3)
      : this.#random.below(this.#history.latencyMaxMs);
  }

  #isLost(): boolean {
    return this.#random.below(100) < this.#history.lossPercent;
  }

  #commit(load: number): void {
    this.#visible = load;
    const { learnedAfterMs = 0, of = [] } = this.#history.loads[load - 1] ?? {};
    this.#at(this.#nowMs + learnedAfterMs + visibleAfterMs, () => {
      this.#reported = Math.max(this.#reported, load);
      // A receiver of the event makes a call at once.
      for (const series of of) this.#begin({ atMs: this.#nowMs, forMs: 0, series, how: 'plain' });
    });
  }

  /** The newest of these loads that changed the series. */
  #changeOf(series: Series, newest: number): number {
    return this.#history.loads.slice(0, newest).findLastIndex(({ of }) => of.includes(series)) + 1;
  }

  #instance(): Instance {
    return this.#instances[this.#random.below(this.#instances.length)] as Instance;
  }

  /** Answers like data-api: it queries the database during the call. */
  #askNewest(): Promise<DataState> {
    return new Promise((resolve, reject) => {
      const instance = this.#instance();
      this.#at(this.#nowMs + this.#latency(), () => {
        const load = this.#visible;
        this.#at(this.#nowMs + this.#latency(), () => {
          if ((instance.known?.load ?? -1) < load) instance.known = { edition: instance.edition, load };
          const found = instance.known as DataState;
          const isLost = this.#isLost();
          const lateMs = isLost ? answerLeaseMs : this.#latency();
          this.#at(this.#nowMs + lateMs, () => (isLost ? reject(new Error('lost')) : resolve(found)), true);
        });
      });
    });
  }

  #begin({ atMs, forMs, series, how }: PlannedCall): void {
    const needed = this.#changeOf(series, this.#reported);
    const etag = how === 'with an ETag' ? this.#lastEtag.get(series) : undefined;
    const headers = etag === undefined ? {} : { 'if-none-match': etag };
    const request = { url: urls[series], method: how === 'HEAD' ? 'HEAD' : 'GET', headers };
    const call = {
      identity: anonymous,
      capture: undefined,
      cache: undefined,
      head: [],
      stage: undefined,
      closing: [],
    } as unknown as Call;
    const response = new Answered((status, head, body) => {
      const given = String(head[head.indexOf('etag') + 1]);
      this.#lastEtag.set(series, given);
      this.#judge(
        { series, beganAtMs: atMs, needed, given: Number(given.slice(2, -1)), isHit: call.cache === 'hit' },
        body,
        status === 304 || how === 'HEAD' ? null : given,
      );
    });
    const arrives = () => {
      openCall(request as unknown as IncomingMessage, call);
      response.once('close', () => call.closing.forEach((work) => work())); // like request-id
      const forward = () => this.#forward(request as unknown as IncomingMessage, response, call, series);
      void this.#policy(
        request as unknown as IncomingMessage,
        response as unknown as ServerResponse,
        forward,
      );
    };
    this.#at(this.#nowMs + forMs, arrives, true);
    if (how === 'leaves') this.#at(this.#nowMs + forMs + this.#latency(), () => response.leave(), true);
  }

  #judge(judged: Judged, body: string | undefined, etag: string | null): void {
    this.#judged.push(judged);
    const { series, beganAtMs, needed, given, isHit } = judged;
    const where = isHit ? 'memory' : 'data-api';
    if (given < needed)
      this.#wrong.push(
        `a call for ${series} of ${beganAtMs} ms got load ${given} from ${where}, after ${needed}`,
      );
    if (etag !== null && body !== etag) this.#wrong.push(`the body ${body} was sent under the ETag ${etag}`);
  }

  /** Like `forward`: a read that was lost in transit is repeated once. */
  #forward(request: IncomingMessage, response: Answered, call: Call, series: Series, attempt = 1): void {
    const instance = this.#instance();
    const asked = request.headers['if-none-match'] ?? '';
    const lost = () => {
      if (attempt < 2) this.#forward(request, response, call, series, attempt + 1);
      else response.leave();
    };
    if (this.#isLost()) return void this.#at(this.#nowMs + this.#latency(), lost, true);
    this.#at(this.#nowMs + this.#latency(), () => {
      const state = instance.known; // before anything is read
      const forMs = this.#random.below(3) === 0 ? this.#random.below(2_000) : 1e9;
      this.#at(this.#nowMs + this.#latency(), () => {
        const etag = `"${series}${this.#changeOf(series, this.#visible)}"`;
        const status = asked.split(', ').includes(etag) ? 304 : 200;
        const validity = state && validityText({ state, forMs });
        const arrives = () =>
          this.#relay(request.method === 'HEAD', response, call, { status, etag, validity });
        this.#at(this.#nowMs + this.#latency(), arrives, true);
      });
    });
  }

  /** Forwards an answer like the reader: the head, later the body, possibly not to its end. */
  #relay(
    isHead: boolean,
    response: Answered,
    call: Call,
    { status, etag, validity }: { status: number; etag: string; validity: string | undefined },
  ): void {
    if (response.destroyed) return;
    const head = ['etag', etag, 'cache-control', 'private'];
    call.capture?.onHead(status, head, validity);
    response.writeHead(status, head);
    const body = status === 304 || isHead ? undefined : etag;
    const isCut = this.#isLost();
    const ends = () => {
      if (response.destroyed) return;
      if (isCut) return response.leave();
      if (body !== undefined) call.capture?.onBody(Buffer.from(body));
      call.capture?.onEnd();
      response.end(body === undefined ? undefined : Buffer.from(body));
    };
    this.#at(this.#nowMs + this.#latency(), ends, true);
  }
}

/** The output of the gateway to one client. */
class Answered extends EventEmitter {
  readonly #judge: (status: number, head: readonly string[], body: string | undefined) => void;
  #status = 0;
  #head: readonly string[] = [];
  destroyed = false;

  constructor(judge: (status: number, head: readonly string[], body: string | undefined) => void) {
    super();
    this.#judge = judge;
  }

  writeHead(status: number, head: readonly string[] = []): void {
    this.#status = status;
    this.#head = head;
  }

  end(body?: Buffer): void {
    if (this.destroyed) return;
    this.#judge(this.#status, this.#head, body?.toString());
    this.leave();
  }

  /** Either side has closed the connection. */
  leave(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

/** Resolves once the gateway has done everything possible without another event: an answer may be sent at the end of the next turn. */
async function turns(): Promise<void> {
  for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
}
