// The state of the page, all of it in the URL: vintage, period, colours, window, dimension values. The URL is written only once the vintage
// stops changing: browsers refuse more than a few changes a second.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useQuery } from '../../components/use-query.ts';
import {
  firstPrints,
  mostRevised,
  newestIn,
  type RevisionTable,
} from '../../../domain/chart/revisions/table.ts';

/** The selection: `v` a vintage, `m` a period, `by` the colours, `show` the window, `dims` a combination. */
type Name = 'v' | 'm' | 'by' | 'show' | 'dims';

/** One parameter of the URL; undefined removes it. */
export function useParameter(name: Name): [string | undefined, (value: string | undefined) => void] {
  const [query, change] = useQuery();
  const set = useCallback(
    (value: string | undefined) => change({ [name]: value }, { replace: true }),
    [name, change],
  );
  return [query.get(name) ?? undefined, set];
}

const writtenAfterMs = 200;

/** The vintage shown: in memory while it changes, in the URL once it has stopped. */
export function useVintage(table: RevisionTable, isPlaying: boolean): [number, (vintageNo: number) => void] {
  const [written, write] = useParameter('v');
  const last = table.vintages.length - 1;
  const inUrl = written === undefined ? last : vintageNoOf(table, written);
  const [vintageNo, setVintageNo] = useState(inUrl);
  /** The vintage that the URL last had or gets from this page: a change of the URL to it must not undo a key pressed since then. */
  const own = useRef(inUrl);
  useEffect(() => {
    if (own.current !== inUrl) setVintageNo(inUrl);
    own.current = inUrl;
  }, [inUrl]);
  useEffect(() => {
    if (isPlaying || vintageNo === inUrl) return undefined;
    const timer = setTimeout(() => {
      own.current = vintageNo;
      write(vintageNo === last ? undefined : table.vintages[vintageNo]);
    }, writtenAfterMs);
    return () => clearTimeout(timer);
  }, [vintageNo, isPlaying]);
  const set = useCallback((no: number) => setVintageNo(Math.min(last, Math.max(0, no))), [last]);
  return [Math.min(vintageNo, last), set];
}

/** The newest vintage up to a day; the first if all are later. */
function vintageNoOf({ vintages }: RevisionTable, day: string): number {
  return Math.max(
    0,
    vintages.findLastIndex((vintage) => vintage <= day),
  );
}

/** The selected period: that of the URL, else the one whose first print was changed most. */
export function selectedPeriod(table: RevisionTable, written: string | undefined): number {
  const found = written === undefined ? -1 : table.dates.indexOf(written);
  return found >= 0 ? found : (mostRevised(table) ?? table.dates.length - 1);
}

/**
 * Where the window starts: with `showsAll` at the oldest period, otherwise at the oldest one with a known first print, or without any at the newest
 * one of the first vintage; but early enough for at least 12 periods.
 */
export function firstShown(table: RevisionTable, showsAll: boolean): number {
  if (showsAll) return 0;
  const first = firstPrints(table)[0]?.dateNo ?? newestIn(table, 0);
  return Math.max(0, Math.min(first, table.dates.length - periodsLeast));
}
const periodsLeast = 12;
