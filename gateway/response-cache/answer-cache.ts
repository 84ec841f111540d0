// The response cache: answers of data-api in memory, limited in bytes. Evicts the least recently used.
import { LRUCache } from 'lru-cache';
import { entryAt } from '../../kernel/entries.ts';
import { includes, type DataState, type Validity } from '../../kernel/http/validity.ts';

/** A cached answer. */
export interface CachedAnswer {
  etag: string;
  /** The headers of its 200: alternating names and values, without the length and the headers that are set for every answer. */
  head: readonly string[];
  /** The headers of its 304, likewise. */
  validators: readonly string[];
  /** Undefined: only the 304 is known, as all clients so far had the body. */
  body: Buffer | undefined;
  /** The state of the data that it includes. */
  state: DataState;
  /** Unless there is a load, the answer is valid from `fromMs` until before `untilMs`, ms since 1970. A clock set back could be before `fromMs`. */
  fromMs: number;
  untilMs: number;
}

/** By cache key: everything the answer depends on besides the data. */
export type AnswerCache = LRUCache<string, CachedAnswer>;

/**
 * Longer answers are not cached: they are rare, and sending them costs more than computing them. A cached answer is also written at once: if the gateway
 * then closes the connection because it stops, Node's fetch loses unread bytes beyond 64 kB (2026-11-23; other clients receive all of it). A forwarded
 * answer is written at the client's pace and is not affected.
 */
export const bodyBytesMax = 64 * 1024;
// The objects of an entry, without its strings and its body.
const overheadBytes = 1_024;

export function createAnswerCache(bytesMax: number): AnswerCache {
  return new LRUCache({
    maxSize: bytesMax,
    sizeCalculation: ({ head, body }, name) =>
      overheadBytes + 2 * name.length + 2 * textLength(head) + (body?.length ?? 0),
  });
}

const textLength = (words: readonly string[]) => words.reduce((sum, { length }) => sum + length, 0);

/** The headers that data-api sends with a 304. */
const ofNotModified: ReadonlySet<string> = new Set([
  'etag',
  'cache-control',
  'vary',
  'last-modified',
  'content-location',
]);

/**
 * @param head of the answer as data-api sent it. @param askedAtMs when it was requested, in ms since 1970. data-api counts `forMs` from a later instant,
 * so counting from here never overstates the validity.
 * @returns undefined if the head has no ETag.
 */
export function toCachedAnswer(
  head: readonly string[],
  body: Buffer | undefined,
  { state, forMs }: Validity,
  askedAtMs: number,
): CachedAnswer | undefined {
  let etag: string | undefined;
  const lines: string[] = [];
  const validators: string[] = [];
  for (let i = 0; i < head.length; i += 2) {
    const name = entryAt(head, i);
    const value = entryAt(head, i + 1);
    if (name === 'etag') etag = value;
    if (name !== 'date' && name !== 'content-length') lines.push(name, value);
    if (ofNotModified.has(name)) validators.push(name, value);
  }
  if (etag === undefined) return undefined;
  const times = { fromMs: askedAtMs, untilMs: askedAtMs + forMs };
  return { etag, head: lines, validators, body, state, ...times };
}

/** Whether data-api would give the same answer now. @param needed the state of the data that the answer must include. */
export function isValid(answer: CachedAnswer, needed: DataState, nowMs: number): boolean {
  return includes(answer.state, needed) && nowMs >= answer.fromMs && nowMs < answer.untilMs;
}
