// Random choices that a seed repeats (mulberry32).

export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** From `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** By the weight of each. */
  weighted<T extends { weight: number }>(from: readonly T[]): T;
  shuffled<T>(all: readonly T[]): T[];
}

export function randomOf(seed: number): Random {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let n = 0; n < 8; n++) next(); // neighbouring seeds begin alike
  const whole = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  function pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error('There is nothing to pick from.');
    return from[whole(0, from.length - 1)] as T;
  }
  function shuffled<T>(all: readonly T[]): T[] {
    const list = [...all];
    for (let at = list.length - 1; at > 0; at--) {
      const other = whole(0, at);
      [list[at], list[other]] = [list[other] as T, list[at] as T];
    }
    return list;
  }
  function weighted<T extends { weight: number }>(from: readonly T[]): T {
    let left = next() * from.reduce((sum, { weight }) => sum + weight, 0);
    for (const each of from) if ((left -= each.weight) < 0) return each;
    return pick(from);
  }
  return { next, whole, chance: (probability) => next() < probability, pick, weighted, shuffled };
}
