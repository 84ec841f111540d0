// Turns the SVG of a chart into a PNG, in a thread of its own.
// Hides the fonts: resvg draws no text without one, so a sans-serif font of the system is found once, by name.
import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fail } from '../../kernel/errors.ts';

interface Font {
  family: string;
  files: string[];
}

/** Where systems keep fonts. */
const systemFolders = ['/usr/share/fonts', '/usr/local/share/fonts', path.join(os.homedir(), '.local/share/fonts'), '/System/Library/Fonts', '/Library/Fonts']; // prettier-ignore

/** In order of preference: family, the file of weight 400, that of weight 700. */
const known = [
  ['Noto Sans', 'NotoSans-Regular.ttf', 'NotoSans-Bold.ttf'],
  ['Liberation Sans', 'LiberationSans-Regular.ttf', 'LiberationSans-Bold.ttf'],
  ['DejaVu Sans', 'DejaVuSans.ttf', 'DejaVuSans-Bold.ttf'],
  ['Roboto', 'Roboto-Regular.ttf', 'Roboto-Bold.ttf'],
  ['Arial', 'Arial.ttf', 'Arial Bold.ttf'],
] as const;

/** The first known font in the folders and those below; undefined if there is none. */
export function findFont(folders: readonly string[] = systemFolders): Font | undefined {
  const places = new Map(folders.flatMap(filesIn).map((file) => [path.basename(file), file]));
  for (const [family, ...names] of known) {
    const files = names.flatMap((name) => places.get(name) ?? []);
    if (files.length === names.length) return { family, files };
  }
  return undefined;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
  } catch (error) {
    // Most systems have only some of the folders, and some may not be read.
    if (error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'ENOTDIR'].includes(String(error.code))) return []; // prettier-ignore
    throw error;
  }
}

/**
 * A function that makes a PNG of an SVG.
 * @throws Failure `not_acceptable` without a font: a chart without its numbers would mislead.
 */
export function createPngMaker(
  font: Font | null = findFont() ?? null,
): (svg: string, scale: number) => Promise<Buffer> {
  return async (svg, scale) => {
    if (font === null)
      fail(
        'not_acceptable',
        'A PNG needs a sans-serif font on the server, and none was found. chart.svg needs none.',
      );
    const { renderAsync } = await import('@resvg/resvg-js'); // here: most processes draw none
    const image = await renderAsync(svg, {
      fitTo: { mode: 'zoom', value: scale },
      font: {
        loadSystemFonts: false,
        fontFiles: font.files,
        defaultFontFamily: font.family,
        sansSerifFamily: font.family,
      },
    });
    return image.asPng();
  };
}
