// A series in FRED's terms.
import { z } from 'zod';
import { unitName } from '../../domain/chart/captions.ts';
import type { Frequency } from '../../domain/periods.ts';
import { fredDate } from './dates.ts';
import { realtimeFacts, type Realtime } from './real-time.ts';

/** The facts of a series that are shown. */
export interface SeriesFacts {
  id: string;
  name: string;
  /** Null if unknown. */
  unit: string | null;
  unitMultiplier: number | null;
  frequency: Frequency;
  fiscalYearEnd: string | null;
  seasonalAdjustment: string | null;
  description: string | null;
  firstDate: string | null;
  lastDate: string | null;
  /** Null if it never had points. */
  changedAt: Date | null;
}

const frequencies: Readonly<Record<Frequency, readonly [name: string, short: string]>> = {
  daily: ['Daily', 'D'],
  weekly: ['Weekly', 'W'],
  monthly: ['Monthly', 'M'],
  quarterly: ['Quarterly', 'Q'],
  semiannual: ['Semiannual', 'SA'],
  annual: ['Annual', 'A'],
  irregular: ['Not Applicable', 'NA'],
};

export const seriesSchema = z
  .object({
    id: z.string(),
    realtime_start: z.iso.date(),
    realtime_end: z.iso.date(),
    title: z.string(),
    observation_start: z.string().describe('Empty: the series has no points.'),
    observation_end: z.string(),
    frequency: z.string(),
    frequency_short: z.string(),
    units: z.string(),
    units_short: z.string(),
    seasonal_adjustment: z.string(),
    seasonal_adjustment_short: z.string(),
    last_updated: z.string().describe('In UTC: `2024-08-29 12:56:03+00`.'),
    popularity: z.int().describe('Always 0.'),
    notes: z.string().optional(),
  })
  .meta({ id: 'FredSeries' });

/** `2024-08-29 12:56:03+00` */
export const instantOf = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')}+00`;

/** A series in FRED's terms. */
export function describedSeries(
  series: Pick<SeriesFacts, 'name' | 'unit' | 'unitMultiplier' | 'frequency' | 'seasonalAdjustment'>,
) {
  const { name: title, unit, unitMultiplier } = series;
  const [frequency, frequency_short] = frequencies[series.frequency];
  const [seasonal_adjustment, seasonal_adjustment_short] = adjustmentOf(series.seasonalAdjustment);
  const units = unitName({ unit, unitMultiplier }, null);
  return {
    ...{ title, frequency, frequency_short, units, units_short: units },
    ...{ seasonal_adjustment, seasonal_adjustment_short },
  };
}

/** The attributes of a series. */
export function seriesRow(series: SeriesFacts, realtime: Realtime): Record<string, string | number> {
  const { firstDate, lastDate, description } = series;
  const { title, ...words } = describedSeries(series);
  return {
    id: series.id,
    ...realtimeFacts(realtime),
    title,
    observation_start: firstDate === null ? '' : fredDate(firstDate, series),
    observation_end: lastDate === null ? '' : fredDate(lastDate, series),
    ...words,
    last_updated: series.changedAt === null ? '' : instantOf(series.changedAt),
    popularity: 0,
    ...(description === null ? {} : { notes: description }),
  };
}

/** FRED's name and short form; a value that FRED does not have is shown unchanged. */
export function adjustmentOf(stated: string | null): readonly [name: string, short: string] {
  switch (stated?.toLowerCase()) {
    case undefined:
      return ['Not Applicable', 'NA'];
    case 'sa':
    case 'seasonally adjusted':
      return ['Seasonally Adjusted', 'SA'];
    case 'nsa':
    case 'not seasonally adjusted':
      return ['Not Seasonally Adjusted', 'NSA'];
    case 'saar':
      return ['Seasonally Adjusted Annual Rate', 'SAAR'];
    default:
      return [stated ?? '', stated ?? ''];
  }
}
