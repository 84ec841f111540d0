// A seeded random generator.

export interface Random {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** From `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Another source, whose numbers do not depend on how many were drawn here. */
  fork(): Random;
}

/** Mulberry32. @param seed a whole number below 2^32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }
  const below = (end: number) => Math.floor((next() / 2 ** 32) * end);
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    pick: <T>(from: readonly T[]) => from[below(from.length)] as T,
    fork: () => createRandom(next()),
  };
}
