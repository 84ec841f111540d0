// Remembers an answer for a while. Hides that callers who come while it is asked for share one question.

/** @returns asks once for all callers, and not again for `ms` after an answer. A failure is not remembered. */
export function rememberedFor<T>(
  ms: number,
  ask: () => Promise<T>,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let asked: Promise<T> | undefined;
  let untilMs = -Infinity;
  return () => {
    if (asked !== undefined && nowMs() < untilMs) return asked;
    untilMs = Infinity; // while it is asked for
    asked = ask();
    asked.then(
      () => (untilMs = nowMs() + ms),
      () => (untilMs = -Infinity),
    );
    return asked;
  };
}
