// Caches an answer for a while. Callers during the request share it.

/** @returns asks once for all callers, and not again for `ms` after an answer. A failure is not cached. */
export function rememberedFor<T>(
  ms: number,
  ask: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let asked: Promise<T> | undefined;
  let untilMs = -Infinity;
  return () => {
    if (asked !== undefined && nowMs() < untilMs) return asked;
    untilMs = Infinity; // while the request runs
    asked = ask();
    asked.then(
      () => (untilMs = nowMs() + ms),
      () => (untilMs = -Infinity),
    );
    return asked;
  };
}
