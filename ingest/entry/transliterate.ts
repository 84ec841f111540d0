// Writes letters of other alphabets in Latin ones, for series ids.

/** Letters of Cyrillic and Greek as an id has them. */
const latin: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'а a б b в v г g д d е e ж zh з z и i й i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya і i ї i є ie ґ g ђ dj ј j ' +
    'љ lj њ nj ћ c џ dz ѓ g ќ k ѕ dz α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o'
  )
    .split(' ')
    .reduce<[string, string][]>(
      (pairs, text, at, all) =>
        at % 2 === 0 ? [...pairs, [text, (all[at + 1] ?? '').replace('_', '')]] : pairs,
      [],
    ),
);

/** A non-Latin letter in Latin ones, by the table. One that is not in it becomes `u` and its code point, so that such letters stay distinct. */
export function transliterated(letter: string): string {
  const small = latin[letter.toLowerCase()];
  if (small === undefined) return `u${letter.codePointAt(0)?.toString(16) ?? ''}`;
  return letter === letter.toLowerCase() ? small : `${small.charAt(0).toUpperCase()}${small.slice(1)}`;
}
