// Compares our parser of answers with Node's client on random answers, valid and damaged: Node must read every answer that ours accepts in the same
// way. FUZZ_ANSWERS (default 8000) is the number of answers. Each has its own seed; FUZZ_SEED is the first.
import { request, type ClientRequest, type IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import { AnswerParser, BadAnswer } from '../../gateway/upstream/answer-parser.ts';
import { createRandom } from '../chaos/random.ts';
import { randomAnswer, type RandomAnswer, type WantedAnswer } from './random-answers.ts';

const answers = Number(process.env['FUZZ_ANSWERS'] ?? 8_000);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? 1);
const atOnce = 200;
const faultsShownMax = 10;

/** What a parser has read of an answer. */
interface Reading extends WantedAnswer {
  hasEnded: boolean;
  /** The reason why it has refused the answer. */
  error: string | undefined;
}

interface Reader {
  read(piece: Buffer): void;
  reading(): Reading;
}

class OurReader implements Reader {
  readonly #parser: AnswerParser;
  #status = 0;
  #head: readonly string[] = [];
  #body = '';
  #error: string | undefined;

  constructor(method: string) {
    this.#parser = new AnswerParser(
      {
        onHead: (status, head) => {
          this.#status = status;
          this.#head = [...head];
        },
        onBody: (bytes) => void (this.#body += bytes.toString('latin1')),
        onEnd: () => undefined,
      },
      method,
    );
  }

  read(piece: Buffer): void {
    if (this.hasEnded || this.isRefused) return;
    try {
      this.#parser.read(piece);
    } catch (error) {
      if (!(error instanceof BadAnswer)) throw error;
      this.#error = error.message;
    }
  }

  get hasEnded(): boolean {
    return this.#parser.hasEnded;
  }

  get isRefused(): boolean {
    return this.#error !== undefined;
  }

  reading(): Reading {
    const [status, head, body] = [this.#status, this.#head, this.#body];
    return { status, head, body, hasEnded: this.hasEnded, error: this.#error };
  }
}

/** A connection to the test. */
class Wire extends Duplex {
  override _read(): void {
    // The test pushes the arriving bytes.
  }

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  receive(piece: Buffer): void {
    this.push(Buffer.from(piece));
    if (this.readableLength > 0) throw new Error('Node has not read the piece at once.');
  }
}

/** Node's client. One turn after its creation, it reads arriving bytes at once. */
class NodeReader implements Reader {
  readonly #wire = new Wire();
  readonly #request: ClientRequest;
  #answer: IncomingMessage | undefined;
  #error: string | undefined;
  #body = '';

  constructor(method: string) {
    this.#request = request({
      method,
      createConnection: () => this.#wire,
      maxHeaderSize: 1024 * 1024,
    });
    this.#request.on('error', (error) => (this.#error ??= error.message));
    this.#request.on('upgrade', () => (this.#error ??= 'upgrade'));
    this.#request.on('response', (answer) => {
      this.#answer = answer;
      answer.on('error', () => undefined); // caused by the end of the test
    });
    this.#request.end();
  }

  read(piece: Buffer): void {
    if (this.hasEnded || this.#error !== undefined || this.#wire.destroyed) return;
    this.#wire.receive(piece);
  }

  get hasEnded(): boolean {
    return this.#answer?.complete === true;
  }

  reading(): Reading {
    const answer = this.#answer;
    for (;;) {
      const bytes = answer?.read() as Buffer | null | undefined;
      if (bytes === null || bytes === undefined) break;
      this.#body += bytes.toString('latin1');
    }
    return {
      status: answer?.statusCode ?? 0,
      head: (answer?.rawHeaders ?? []).map((word, i) => (i % 2 === 0 ? word.toLowerCase() : word)),
      body: this.#body,
      hasEnded: this.hasEnded,
      error: this.#error,
    };
  }

  close(): void {
    this.#request.destroy();
  }
}

interface Trial {
  seed: number;
  answer: RandomAnswer;
  node: NodeReader;
}

function same(one: WantedAnswer, other: WantedAnswer): boolean {
  return (
    one.status === other.status &&
    one.body === other.body &&
    one.head.length === other.head.length &&
    one.head.every((word, i) => word === other.head[i])
  );
}

/** @returns the difference, if any, and the outcome for the answer. */
function tryAnswer({ answer, node }: Trial): { fault?: string; outcome: string } {
  const ours = new OurReader(answer.method);
  for (const piece of answer.pieces) {
    ours.read(piece);
    if (ours.isRefused) break;
    node.read(piece);
    if (ours.hasEnded !== node.hasEnded) {
      return { fault: ours.hasEnded ? 'ends before Node’s' : 'waits beyond Node’s end', outcome: 'fault' };
    }
    if (ours.hasEnded) break;
  }
  const read = ours.reading();
  const atOnceRead = new OurReader(answer.method);
  atOnceRead.read(Buffer.concat(answer.pieces));
  const again = atOnceRead.reading();
  const { isRefused } = ours;
  const outcome = isRefused ? 'refused' : read.hasEnded ? 'whole' : 'incomplete';
  if (isRefused !== atOnceRead.isRefused || read.hasEnded !== again.hasEnded) {
    return { fault: 'depends on the pieces', outcome };
  }
  if (!isRefused && !same(read, again)) return { fault: 'reads the pieces otherwise', outcome };
  if (read.hasEnded && !same(read, node.reading()))
    return { fault: 'reads it otherwise than Node’s', outcome };
  const { wanted } = answer;
  if (wanted !== undefined && !(read.hasEnded && same(read, wanted))) {
    return { fault: 'does not accept a valid answer', outcome };
  }
  return { outcome };
}

function describe({ seed, answer, node }: Trial, fault: string): string {
  const ours = new OurReader(answer.method);
  for (const piece of answer.pieces) ours.read(piece);
  const pieces = JSON.stringify(answer.pieces.map((piece) => piece.toString('latin1')));
  const [we, they] = [ours.reading(), node.reading()].map((reading) => JSON.stringify(reading));
  return `FUZZ_SEED=${seed} FUZZ_ANSWERS=1: our parser ${fault}: ${answer.method} ${pieces}\nours: ${we}\nNode: ${they}`;
}

test('Node’s parser reads every answer that our parser accepts in the same way, and ours accepts all valid ones', async (t) => {
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  for (let first = 0; first < answers && faults.length < faultsShownMax; first += atOnce) {
    const trials = Array.from({ length: Math.min(atOnce, answers - first) }, (_none, i): Trial => {
      const seed = firstSeed + first + i;
      const answer = randomAnswer(createRandom(seed));
      return { seed, answer, node: new NodeReader(answer.method) };
    });
    await turn();
    for (const trial of trials) {
      const { fault, outcome } = tryAnswer(trial);
      if (fault !== undefined) faults.push(describe(trial, fault));
      const kind = `${trial.answer.wanted === undefined ? 'damaged' : 'valid'}, ${outcome}`;
      outcomes.set(kind, (outcomes.get(kind) ?? 0) + 1);
      trial.node.close();
    }
  }
  t.log([...outcomes].map(([kind, count]) => `${kind}: ${count}`).join('; '));
  t.deepEqual(faults.slice(0, faultsShownMax), []);
});
