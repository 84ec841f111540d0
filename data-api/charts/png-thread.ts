// The thread that draws PNGs: one per message, in order. An exception in an image ends it.
import { parentPort } from 'node:worker_threads';
import type { ResvgRenderOptions } from '@resvg/resvg-js';

const { Resvg } = await import('@resvg/resvg-js'); // no other thread needs it

/** An image to be drawn. */
export interface ImageOrder {
  svg: string;
  options: ResvgRenderOptions;
}

/** The result. */
export interface DrawnImage {
  png: Uint8Array;
  /** The memory of its pixels, outside V8's heap, until V8 collects the image. */
  pixelBytes: number;
}

parentPort?.on('message', ({ svg, options }: ImageOrder) => {
  const image = new Resvg(svg, options).render();
  const drawn: DrawnImage = { png: image.asPng(), pixelBytes: 4 * image.width * image.height };
  parentPort?.postMessage(drawn, []);
});
