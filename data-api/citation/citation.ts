// Writes a citation of a series: as a sentence, as BibTeX and as CSL-JSON, all from the same facts. Escapes the characters that are special
// in TeX.
import { z } from 'zod';

/** The cited state. Days are `YYYY-MM-DD`. */
export interface Cited {
  series: string;
  title: string;
  /** Null if unknown. */
  publisher: string | null;
  /** The day of the newest publication in the cited state; null before the first. */
  publishedOn: string | null;
  /** Null: the first release of each point. */
  vintage: string | null;
  version: number;
  url: string;
  accessedOn: string;
  /** The SHA-256 of the bytes at `url`, in hex. */
  sha256: string;
}

/** One sentence per fact, for a list of references. */
export function citationText(cited: Cited): string {
  const { series, title, publisher, url, accessedOn, sha256 } = cited;
  const [year, work] = [`(${yearOf(cited)})`, `${title} [${series}]`];
  const named = publisher === null ? `${work} ${year}` : `${publisher} ${year}. ${work}`;
  return `${named}. ${stateText(cited)}. ${url} (accessed ${accessedOn}). SHA-256 of the CSV: ${sha256}.`;
}

/** An entry for BibTeX and biblatex. Its text is in UTF-8. */
export function bibtex(cited: Cited): string {
  const { series, title, publisher, version, url, accessedOn, sha256 } = cited;
  // The inner braces preserve the capitals of a title, and prevent a publisher from being read as first and last name.
  const fields = {
    ...(publisher !== null && { author: `{${texText(publisher)}}` }),
    title: `{${texText(`${title} [${series}]`)}}`,
    ...(publisher !== null && { publisher: texText(publisher) }),
    year: yearOf(cited),
    version: String(version),
    url, // verbatim: percent-encoded, it has no brace and no backslash
    urldate: accessedOn,
    note: texText(`${stateText(cited)}. SHA-256 of the CSV: ${sha256}`),
  };
  const lines = Object.entries(fields).map(([name, value]) => `  ${name} = {${value}},\n`);
  return `@misc{${keyOf(cited)},\n${lines.join('')}}\n`;
}

const dateSchema = z.strictObject({ 'date-parts': z.array(z.array(z.int()).min(1).max(3)).length(1) });

/** An item of CSL-JSON 1.0.2, for Zotero, pandoc and others: https://github.com/citation-style-language/schema. */
export const cslSchema = z.strictObject({
  id: z.string(),
  type: z.literal('dataset'),
  title: z.string(),
  author: z.array(z.strictObject({ literal: z.string() })).optional(),
  publisher: z.string().optional(),
  issued: dateSchema,
  accessed: dateSchema,
  version: z.string(),
  URL: z.url(),
  note: z.string(),
});

export function cslItem(cited: Cited): z.output<typeof cslSchema> {
  const { series, title, publisher, publishedOn, vintage, version, url, accessedOn, sha256 } = cited;
  return {
    id: keyOf(cited),
    type: 'dataset',
    title: `${title} [${series}]`,
    ...(publisher !== null && { author: [{ literal: publisher }], publisher }),
    issued: dateParts(publishedOn ?? vintage ?? accessedOn),
    accessed: dateParts(accessedOn),
    version: String(version),
    URL: url,
    note: `${stateText(cited)}. SHA-256 of the CSV: ${sha256}`,
  };
}

function dateParts(day: string): z.output<typeof dateSchema> {
  return { 'date-parts': [day.split('-').map(Number)] };
}

function keyOf({ series, vintage, version }: Cited): string {
  return `${series}-${vintage ?? 'first'}-v${version}`;
}

function yearOf({ publishedOn, vintage, accessedOn }: Cited): string {
  return (publishedOn ?? vintage ?? accessedOn).slice(0, 4);
}

function stateText({ vintage, version }: Cited): string {
  return vintage === null
    ? `First releases, version ${version}`
    : `Vintage of ${vintage}, version ${version}`;
}

const texCharacters: Readonly<Record<string, string>> = {
  // BibTeX counts braces, with a backslash or without; as commands, they need not be balanced.
  '{': '{\\textbraceleft}',
  '}': '{\\textbraceright}',
  '\\': '{\\textbackslash}',
  '~': '{\\textasciitilde}',
  '^': '{\\textasciicircum}',
  '<': '{\\textless}',
  '>': '{\\textgreater}',
  '|': '{\\textbar}',
  '"': '{\\textquotedbl}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
};

/** Text as TeX shows it, on one line. */
function texText(text: string): string {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[{}\\~^<>|"$&#%_]/g, (character) => texCharacters[character] ?? '');
}
