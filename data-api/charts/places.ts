// Who may have an image drawn: each account has one place, and all accounts together a few. A call without a place is refused, not made
// to wait. Hides that the same image is drawn once for all who ask for it while it is drawn.
import { fail } from '../../kernel/errors.ts';

/** Of all accounts: whoever has a place waits for at most so many images, of up to 0.6 s of CPU each (2026-11-26). */
export const placesMax = 8;

export interface Places {
  /**
   * Draws an image in the place of an account. @param image names it: the same name is the same image.
   * @throws Failure `rate_limited` if the account has an image drawn already, or there is no place; and whatever `draw` throws.
   */
  drawn(image: { accountId: string | null; name: string }, draw: () => Promise<Buffer>): Promise<Buffer>;
}

export function createPlaces(): Places {
  const underWay = new Map<string, { accountId: string | null; bytes: Promise<Buffer> }>(); // by name
  return {
    drawn({ accountId, name }, draw) {
      const same = underWay.get(name);
      if (same !== undefined) return same.bytes;
      if ([...underWay.values()].some((each) => each.accountId === accountId))
        refuse('An image of this account is being drawn, and an account has one drawn at a time.');
      if (underWay.size >= placesMax)
        refuse(`${placesMax} images are being drawn, which is the most at a time.`);
      const bytes = draw().finally(() => underWay.delete(name));
      underWay.set(name, { accountId, bytes });
      return bytes;
    },
  };
}

function refuse(why: string): never {
  return fail('rate_limited', `${why} Try again in a second, or ask for chart.svg.`, {
    headers: { 'retry-after': '1' },
  });
}
