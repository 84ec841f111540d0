// The menu of the vintages of a series; locked without a key, or if the key's plan has no vintages.
import { accessKey, keyedApi } from '../../api/access-key.ts';
import { useLoad } from '../../api/use-load.ts';
import { Pick } from '../../components/pick.tsx';
import { dayText } from '../../text/times.ts';

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

interface VintagePickProps {
  vintages: Vintages;
  /** The chosen vintage, which the series may not have; null: the latest. */
  vintage: string | null;
  /** The label of the latest vintage. */
  latest: string;
  onPick: (vintage: string | null) => void;
  label?: string;
  small?: boolean;
}

export function VintagePick({ vintages, vintage, latest, onPick, ...rest }: VintagePickProps) {
  const known = vintages.kind === 'open' ? vintages.days : [];
  const days = vintage === null || known.includes(vintage) ? known : [vintage, ...known];
  const lock = vintages.kind === 'locked' ? { disabled: true, title: vintages.message, value: '' } : {};
  return (
    <Pick
      value={vintage ?? ''}
      {...lock}
      {...rest}
      options={[{ value: '', label: latest }, ...days.map((day) => ({ value: day, label: dayText(day) }))]}
      onPick={(day) => onPick(day === '' ? null : day)}
    />
  );
}
