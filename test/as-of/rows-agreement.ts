// A property: after any loads of rows, a pinned key gets the same answers as from an installation where nothing was published later.
import fc from 'fast-check';
import { startDataService } from '../services/data-service.ts';
import { agreeOn, requestsOf } from './agreement.ts';
import { play, type History } from './histories.ts';

/** A share of the requests for each history. */
const partCount = 5;

/**
 * @param routes all requests of the table for them are compared, a share of them for each history.
 * @param more requests that are compared for every history.
 */
export async function agreeingOn(
  histories: fc.Arbitrary<History>,
  routes: readonly string[],
  more: readonly string[],
): Promise<fc.IAsyncProperty<[History]>> {
  const service = await startDataService();
  const requests = [...new Set([...more, ...(await requestsOf(service, routes))])];
  await service.close();
  let played = 0;
  return fc.asyncProperty(histories, async (history) => {
    const sides = await play(history);
    const part = played++ % partCount;
    try {
      const asked = requests.filter((_, i) => i < more.length || i % partCount === part);
      for (const request of asked) await agreeOn(sides, request);
    } finally {
      await sides.close();
    }
  });
}
