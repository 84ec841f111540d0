// Whether the plan of the key includes the bulk files. Both calls that determine it are free.
import { accessKey, keyedApi } from './access-key.ts';
import { api } from './clients.ts';
import { shownIn, useLoad } from './use-load.ts';

/** False without a key, and until the plan is known. */
export function useBulk(): boolean {
  const loaded = useLoad(
    async (signal) => {
      const client = keyedApi.value;
      if (client === undefined) return false;
      const [{ data: account }, { data: plans }] = await Promise.all([
        client.get('/v1/account', { signal }),
        api.get('/v1/plans', { signal }),
      ]);
      return plans.some(({ id, features }) => id === account.plan && features?.includes('bulk'));
    },
    [accessKey.value],
  );
  return shownIn(loaded) ?? false;
}
