// Caches whole answers by ETag. The ETag covers everything that the bytes depend on, so a cached response is never stale:
// changed data has another ETag. Evicts the least recently used.
import { LRUCache } from 'lru-cache';

export interface CachedResponse {
  status: number;
  /** Alternating names and values. */
  headers: string[];
  body: Buffer;
}

export interface ResponseCache {
  get(etag: string): CachedResponse | undefined;
  keep(etag: string, answer: CachedResponse): void;
}

const answerBytesMax = 512 * 1024;

export function createResponseCache(bytesMax = 32 * 1024 * 1024): ResponseCache {
  const answers = new LRUCache<string, CachedResponse>({
    maxSize: bytesMax,
    maxEntrySize: answerBytesMax,
    sizeCalculation: ({ body }) => Math.max(1, body.length), // must not be zero
  });
  return {
    get: (etag) => answers.get(etag),
    keep: (etag, answer) => void answers.set(etag, answer),
  };
}
