// Whole answers by ETag. An ETag names everything that decides the bytes, so a cached response never grows stale: what has
// changed is asked for under another name. Hides which ones are let go: those not asked for longest.

export interface CachedResponse {
  /** Names and values by turns. */
  headers: string[];
  body: Buffer;
}

export interface ResponseCache {
  get(etag: string): CachedResponse | undefined;
  keep(etag: string, answer: CachedResponse): void;
}

const answerBytesMax = 512 * 1024;

export function createResponseCache(bytesMax = 32 * 1024 * 1024): ResponseCache {
  const answers = new Map<string, CachedResponse>(); // in order of last use
  let bytes = 0;

  function remove(etag: string): void {
    bytes -= answers.get(etag)?.body.length ?? 0;
    answers.delete(etag);
  }

  return {
    get(etag) {
      const answer = answers.get(etag);
      if (answer === undefined) return undefined;
      answers.delete(etag);
      answers.set(etag, answer);
      return answer;
    },
    keep(etag, answer) {
      if (answer.body.length > answerBytesMax) return;
      remove(etag);
      answers.set(etag, answer);
      bytes += answer.body.length;
      for (const oldest of answers.keys()) {
        if (bytes <= bytesMax) break;
        remove(oldest);
      }
    },
  };
}
