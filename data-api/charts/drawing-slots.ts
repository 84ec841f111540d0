// Limits the drawing of images: one at a time per account, a few in all. A call beyond the limit is refused; it does not wait. Calls for an
// image that is being drawn share it.
import { fail } from '../../kernel/errors.ts';

/** Across all accounts. A call waits for at most this many images, of up to 0.6 s of CPU each (2026-11-26). */
export const drawingSlotsMax = 8;

export interface DrawingSlots {
  /**
   * Draws an image for an account. @param image.name identifies the image.
   * @throws Failure `rate_limited` if an image of the account is being drawn, or the limit is reached; and the errors of `draw`.
   */
  draw(image: { accountId: string | null; name: string }, draw: () => Promise<Buffer>): Promise<Buffer>;
}

export function createDrawingSlots(): DrawingSlots {
  const inFlight = new Map<string, { accountId: string | null; bytes: Promise<Buffer> }>(); // by name
  return {
    draw({ accountId, name }, draw) {
      const same = inFlight.get(name);
      if (same !== undefined) return same.bytes;
      if ([...inFlight.values()].some((each) => each.accountId === accountId))
        refuse('An image of this account is being drawn; the limit is one at a time.');
      if (inFlight.size >= drawingSlotsMax)
        refuse(`${drawingSlotsMax} images are being drawn; that is the limit.`);
      const bytes = draw().finally(() => inFlight.delete(name));
      inFlight.set(name, { accountId, bytes });
      return bytes;
    },
  };
}

function refuse(why: string): never {
  return fail('rate_limited', `${why} Try again in a second, or ask for chart.svg.`, {
    headers: { 'retry-after': '1' },
  });
}
