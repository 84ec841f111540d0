// Turns the SVG of a chart into a PNG in a worker thread, one at a time. resvg draws no text without a font, so a sans-serif font of the
// system is found once, by name. The thread is replaced from time to time, which frees the pixels that it has drawn.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { fail } from '../../kernel/errors.ts';
import type { DrawnImage, ImageOrder } from './png-thread.ts';

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

let own: { font: Font | null } | undefined;

/** The font of this machine, found with the first chart; null if it has none. */
export const ownFont = (): Font | null => (own ??= { font: findFont() ?? null }).font;

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => path.join(folder, name));
  } catch (error) {
    // Most systems have only some of the folders, and some may not be read.
    if (error instanceof Error && 'code' in error && ['ENOENT', 'EACCES', 'ENOTDIR'].includes(String(error.code))) return []; // prettier-ignore
    throw error;
  }
}

// An image is freed when V8 collects it, and V8 does not count its pixels, 5 MB for a chart of 800 by 420 at scale 2. The peak memory of a
// data-api that draws 300 charts is 287 to 309 MiB with resvg's own four threads; 255 with threads that end after 32 MiB of pixels, 238 to
// 242 after 16 MiB; and 174 if it draws none. Starting a thread takes 40 to 80 ms of CPU, drawing such a chart 30 (2026-11-23).
const pixelBytesMax = 16 * 1024 * 1024;
const idleMs = 10_000;

/** The thread of the process while images are drawn. */
let thread: Worker | undefined;
let pixelBytes = 0;
let idle: NodeJS.Timeout | undefined;
/** The last requested image. */
let last: Promise<unknown> = Promise.resolve();

/** Draws the image after all that were requested earlier, whether or not those succeeded. */
function draw(order: ImageOrder): Promise<Buffer> {
  const drawing = last.then(() => drawNow(order));
  last = drawing.then(endIfFull, endThread);
  return drawing;
}

async function drawNow(order: ImageOrder): Promise<Buffer> {
  clearTimeout(idle);
  thread ??= new Worker(new URL('./png-thread.ts', import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
  });
  thread.ref();
  thread.postMessage(order, []); // nothing is transferred
  const [drawn] = (await once(thread, 'message')) as [DrawnImage]; // rejects with what the thread has thrown
  pixelBytes += drawn.pixelBytes;
  return Buffer.from(drawn.png.buffer, drawn.png.byteOffset, drawn.png.byteLength);
}

async function endIfFull(): Promise<void> {
  if (pixelBytes >= pixelBytesMax) return endThread();
  thread?.unref(); // it does not keep the process alive
  idle = setTimeout(() => (last = last.then(endThread)), idleMs).unref();
}

async function endThread(): Promise<void> {
  const ending = thread;
  thread = undefined;
  pixelBytes = 0;
  await ending?.terminate();
}

/**
 * Makes a PNG of an SVG.
 * @throws Failure `not_acceptable` without a font: a chart without its numbers would mislead.
 */
export async function toPng(font: Font | null, svg: string, scale: number): Promise<Buffer> {
  if (font === null)
    fail(
      'not_acceptable',
      'A PNG needs a sans-serif font on the server, and none was found. chart.svg needs none.',
    );
  return draw({
    svg,
    options: {
      fitTo: { mode: 'zoom', value: scale },
      font: {
        loadSystemFonts: false,
        fontFiles: font.files,
        defaultFontFamily: font.family,
        sansSerifFamily: font.family,
      },
    },
  });
}
