// The menu of the vintages of a series; locked without a key that may read them.
import { Pick } from '../../components/pick.tsx';
import { dayText } from '../../text/times.ts';
import type { Vintages } from './vintages.ts';

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
