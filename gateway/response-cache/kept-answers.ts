// The answers of data-api that a gateway keeps in memory. Bounded in bytes; evicts the least recently used.
import { LRUCache } from 'lru-cache';
import { entryAt } from '../../kernel/entries.ts';
import { includes, type DataState, type Validity } from '../../kernel/http/validity.ts';

/** An answer, as far as it is known. */
export interface KeptAnswer {
  etag: string;
  /** The head of its 200: alternating names and values, without the length and those that every answer has of its own. */
  head: readonly string[];
  /** The head of its 304, likewise. */
  validators: readonly string[];
  /** Undefined: only the 304 is known, as the clients that asked had the body already. */
  body: Buffer | undefined;
  /** The state of the data that it includes. */
  state: DataState;
  /** When it is the same, unless there is a load: ms since 1970. Both bounds, as clocks are also set back. */
  fromMs: number;
  untilMs: number;
}

/** By a name of everything that the answer depends on besides the data. */
export type KeptAnswers = LRUCache<string, KeptAnswer>;

/**
 * Longer answers are not kept: they are rare, and cost more to send than to find. They are also sent at the pace of their client. One from
 * memory is handed over at once, and a gateway that stops may then close the connection: Node's fetch loses what it has not read by then,
 * beyond 64 kB (2026-11-23; other clients get all of it).
 */
export const bodyBytesMax = 64 * 1024;
// Of the objects of an entry, besides its texts and its body.
const overheadBytes = 1_024;

export function createKeptAnswers(bytesMax: number): KeptAnswers {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ head, body }, name) =>
      overheadBytes + 2 * name.length + 2 * textLength(head) + (body?.length ?? 0),
  });
}

const textLength = (words: readonly string[]) => words.reduce((sum, { length }) => sum + length, 0);

/** As data-api sends them with a 304. */
const ofNotModified: ReadonlySet<string> = new Set([
  'etag',
  'cache-control',
  'vary',
  'last-modified',
  'content-location',
]);

/**
 * @param head of the answer as data-api sent it. @param askedAtMs when it was asked for, in ms since 1970: its validity counts from
 * later. @returns undefined if the head has no ETag.
 */
export function keptAnswer(
  head: readonly string[],
  body: Buffer | undefined,
  { state, forMs }: Validity,
  askedAtMs: number,
): KeptAnswer | undefined {
  let etag: string | undefined;
  const kept: string[] = [];
  const validators: string[] = [];
  for (let i = 0; i < head.length; i += 2) {
    const name = entryAt(head, i);
    const value = entryAt(head, i + 1);
    if (name === 'etag') etag = value;
    if (name !== 'date' && name !== 'content-length') kept.push(name, value);
    if (ofNotModified.has(name)) validators.push(name, value);
  }
  if (etag === undefined) return undefined;
  const times = { fromMs: askedAtMs, untilMs: askedAtMs + forMs };
  return { etag, head: kept, validators, body, state, ...times };
}

/** Whether it is what data-api would answer. @param needed the state of the data that the answer must include. */
export function isValid(answer: KeptAnswer, needed: DataState, nowMs: number): boolean {
  return includes(answer.state, needed) && nowMs >= answer.fromMs && nowMs < answer.untilMs;
}
