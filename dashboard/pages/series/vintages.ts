// The vintages that a reader can choose from; locked without a key, or if the key's plan has no vintages.
import { accessKey, keyedApi } from '../../api/access-key.ts';
import { useLoad } from '../../api/use-load.ts';

export type Vintages =
  | { kind: 'waiting' }
  /** Newest first. */
  | { kind: 'open'; days: string[] }
  | { kind: 'locked'; why: 'no_key' | 'plan' | 'failed'; message: string };

const vintagesMax = 1_000;

export function useVintages(id: string): Vintages {
  const key = accessKey.value;
  const loaded = useLoad(
    async (signal) => {
      const answer = await keyedApi.value?.get('/v1/series/{id}/vintages', {
        path: { id },
        query: { limit: vintagesMax, sort: '-vintage' },
        signal,
      });
      return answer?.data.map(({ vintage }) => vintage) ?? [];
    },
    [id, key],
  );
  if (key === undefined)
    return { kind: 'locked', why: 'no_key', message: 'Earlier vintages need a key of a plan with vintages.' };
  if (loaded.phase === 'ready')
    return { kind: 'open', days: loaded.value.filter((day) => day !== undefined) };
  if (loaded.phase !== 'failed') return { kind: 'waiting' };
  const isPlan = loaded.error.code === 'plan_required';
  return { kind: 'locked', why: isPlan ? 'plan' : 'failed', message: loaded.error.message };
}
