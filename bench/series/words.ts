// The words in the names of generated series, from one number generator: two runs use the same words.

/** Each name begins with one. */
export const measures = [
  'Exports',
  'Imports',
  'Production',
  'Employment',
  'Unemployment rate',
  'Consumer price index',
  'Producer price index',
  'Wages',
  'Retail sales',
  'Capacity utilisation',
  'Housing starts',
  'Bank lending',
  'Gross value added',
  'Labour productivity',
  'New orders',
  'Inventories',
];

/** Pronounceable words, all different, from one number generator. */
export function makeWords(count: number, draw: () => number): string[] {
  const pick = (letters: string): string =>
    letters.split(' ')[Math.floor(draw() * letters.split(' ').length)] ?? '';
  const words = new Set<string>();
  while (words.size < count) {
    let word = '';
    for (let syllables = 2 + Math.floor(draw() * 3); syllables > 0; syllables -= 1)
      word += pick('b c d f g k l m n p r s t v br ch dr kh pr sh st tr') + pick('a e i o u ai ea ou');
    words.add(word);
  }
  return [...words];
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
