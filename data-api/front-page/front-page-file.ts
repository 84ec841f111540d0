// Reads the operator's configuration of the front page, from config/front-page.yml or the file of FRONT_PAGE_FILE, and checks the logo.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { isSeriesId } from '../../domain/series-id.ts';
import { projectRoot } from '../../kernel/project.ts';
import { htmlOf } from './markdown.ts';

/**
 * The sections of the page that can be hidden: the large chart, the key figures, the chosen series, the newest and the next releases, the
 * holdings of the installation, and how to call the API.
 */
export const blocks = ['chart', 'figures', 'series', 'newest', 'releases', 'areas', 'calls'] as const;

export interface FrontPage {
  /** Null: the page uses Almanac's. */
  title: string | null;
  /** Sanitised HTML; null as above. */
  textHtml: string | null;
  logo: Logo | null;
  /** Ids in the order in which they are shown. */
  series: readonly string[];
  seriesTitle: string | null;
  blocks: readonly (typeof blocks)[number][];
  /** The state that answers depend on: it changes with the file and the logo. */
  edition: string;
}

interface Logo {
  /** The image as a data: URL, which the policy of the dashboard allows for images. */
  src: string;
  alt: string;
}

const defaultFile = path.join(projectRoot, 'config/front-page.yml');
const seriesMax = 24;
const logoBytesMax = 64 * 1024;

const noneTwice = (words: readonly string[]): boolean => new Set(words).size === words.length;

const fileSchema = z.strictObject({
  title: z.string().trim().min(1).max(120).optional(),
  text: z.string().trim().min(1).max(5_000).optional(),
  logo: z.strictObject({ file: z.string().min(1), alt: z.string().trim().min(1).max(200) }).optional(),
  series: z
    .array(z.string().refine(isSeriesId, 'is not the id of a series'))
    .max(seriesMax)
    .refine(noneTwice, 'has an id twice')
    .default([]),
  series_title: z.string().trim().min(1).max(120).optional(),
  blocks: z
    .array(z.enum(blocks))
    .refine(noneTwice, 'has a block twice')
    .default([...blocks]),
});

/**
 * Reads and checks the file, and the logo that it names.
 * @param file absolute; default: that of the project.
 * @throws Error that names the file and all its faults.
 */
export function loadFrontPage(file: string = defaultFile): FrontPage {
  const result = fileSchema.safeParse(readYaml(file) ?? {});
  if (!result.success) throw new Error(`${file}: ${z.prettifyError(result.error)}`);
  const { title = null, text, logo, series, series_title: seriesTitle = null, blocks: shown } = result.data;
  const page = {
    ...{ title, series, seriesTitle, blocks: shown },
    textHtml: text === undefined ? null : htmlOf(text),
    logo: logo === undefined ? null : readLogo(file, logo),
  };
  return { ...page, edition: hash('sha256', JSON.stringify(page), 'base64url').slice(0, 22) };
}

function readYaml(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const signaturesOfTypes: Readonly<Record<string, { type: string; signature: RegExp }>> = {
  '.svg': { type: 'image/svg+xml', signature: /^[^]*?<svg[\s>]/ },
  // oxlint-disable-next-line no-control-regex -- the signature of a PNG file has control characters
  '.png': { type: 'image/png', signature: /^\u0089PNG\r\n\u001a\n/ },
  '.jpg': { type: 'image/jpeg', signature: /^\u00ff\u00d8\u00ff/ },
  '.webp': { type: 'image/webp', signature: /^RIFF[^]{4}WEBP/ },
};

/** @throws Error that names both files, if the logo cannot be read, is too large, or is not an image of a known type. */
function readLogo(frontPageFile: string, { file: name, alt }: { file: string; alt: string }): Logo {
  const file = path.resolve(path.dirname(frontPageFile), name);
  const refuse = (reason: string, cause?: unknown): never => {
    throw new Error(`${frontPageFile}: logo.file ${file} ${reason}`, { cause });
  };
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    return refuse('cannot be read', error);
  }
  const kind = signaturesOfTypes[path.extname(file).toLowerCase().replace('.jpeg', '.jpg')];
  if (kind === undefined) return refuse('must be .svg, .png, .jpg or .webp');
  if (!kind.signature.test(bytes.toString('latin1')))
    return refuse(`is not an image of the type ${kind.type}`);
  if (bytes.length > logoBytesMax)
    return refuse(`is ${bytes.length} bytes; the limit for a logo is ${logoBytesMax} bytes`);
  return { src: `data:${kind.type};base64,${bytes.toString('base64')}`, alt };
}
