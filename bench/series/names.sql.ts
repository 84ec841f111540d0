// Names of generated series, in SQL: they look random, but are the same for the same series number. Few words are frequent, most are rare.

/** A number from 0 to below `below`, derived from series `i`. */
const draw = (salt: number, below: string): string =>
  `mod(hashint4extended(i, ${salt}) & 9223372036854775807, ${below})::integer`;

/** An element of an array; the first ones are more frequent. */
const frequent = (words: string, salt: number): string =>
  `${words}[1 + floor(power(${draw(salt, '1000000')} / 1e6, 2) * cardinality(${words}))::integer]`;

/**
 * The searchable fields of series number `i`: name, product (a word of the name), frequency, source, category, geography.
 * @param measures the parameter with the beginnings of names. @param words the parameter with at least 60 other words.
 */
export const seriesNames = (measures: string, words: string): string => `(
  select m[1 + ${draw(4, 'cardinality(m)')}] || ' of ' || product || ', ' || initcap(place) as name, product,
    (array['monthly', 'quarterly', 'annual', 'daily'])[1 + ${draw(1, '4')}] as frequency,
    'Bureau of ' || initcap(w[1 + ${draw(2, '40')}]) as source,
    'Accounts/' || w[1 + ${draw(3, '60')}] as category, initcap(place) as geography
  from (select ${measures}::text[] as m, ${words}::text[] as w) parts,
    lateral (select ${frequent('w', 5)} as product, ${frequent('w', 6)} as place) chosen)`;
