// Finds sections of the guides by their words. The texts are loaded at the first search.
import MiniSearch from 'minisearch';

export interface Found {
  href: string;
  guide: string;
  title: string;
  /** Some words of the text around the first match, cut at words. */
  excerpt: string;
}

type Texts = readonly { href: string; guide: string; title: string; text: string }[];

const foundMax = 30;
const excerptLength = 180;

/** The search over texts. Every word of two letters or more must occur, as a whole or as the beginning of one; a longer word may have a typing error. */
export function finderOf(texts: Texts): (query: string) => Found[] {
  const index = new MiniSearch<Texts[number]>({
    idField: 'href',
    fields: ['title', 'guide', 'text'],
    processTerm: (term) => (term.length > 1 ? term.toLowerCase() : null),
    searchOptions: {
      boost: { title: 4, guide: 2 },
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    },
  });
  index.addAll(texts);
  const byHref = new Map(texts.map((each) => [each.href, each]));
  return (query) =>
    index
      .search(query)
      .slice(0, foundMax)
      .flatMap(({ id, terms }) => {
        const found = byHref.get(id as string);
        if (found === undefined) return [];
        const { href, guide, title, text } = found;
        return [{ href, guide, title, excerpt: excerptOf(text, terms) }];
      });
}

function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => wordAt(lower, term)).filter((at) => at >= 0);
  const from = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - 40);
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1;
  const whole = text.slice(start);
  const cut =
    whole.length <= excerptLength ? whole : `${whole.slice(0, whole.lastIndexOf(' ', excerptLength))} …`;
  return start === 0 ? cut : `… ${cut}`;
}

/** The position of the first word that begins with the term; -1 if there is none. */
function wordAt(text: string, term: string): number {
  let at = text.indexOf(term);
  while (at > 0 && /[\p{L}\p{N}]/u.test(text.charAt(at - 1))) at = text.indexOf(term, at + 1);
  return at;
}
