// The table of layouts: how often each is drawn, which frequencies it has, and which properties of the file it determines.
import type { Frequency, Sheet } from '../office-file.ts';
import type { Statistics } from '../statistics.ts';
import {
  across,
  flagsAcross,
  partGrid,
  totalsBetween,
  twoHeaders,
  twoYears,
  yearAndPart,
  yearGrid,
  yearsOverParts,
} from './across.ts';
import {
  bls,
  countryIndicator,
  eurostat,
  identifiers,
  mixedFrequencies,
  releases,
  sdmxCsv,
  seriesKeys,
  statCan,
} from './agencies.ts';
import { abs, ons, rba, unitLine } from './blocks.ts';
import {
  codeAndName,
  flagColumns,
  long,
  longMeasures,
  magnitudes,
  oneSeries,
  sparse,
  statusColumn,
  wide,
} from './plain.ts';

export interface Layout {
  name: string;
  weight: number;
  frequencies: readonly Frequency[];
  write: (statistics: Statistics) => Sheet;
  /** The years begin with their first period and end with their last. */
  wholeYears?: boolean;
  /** Only this language is written so. */
  language?: string;
  /** The layout writes its dates itself. */
  ownDates?: string;
  /** Numbers without groups and with a point, as exchange formats have them. */
  plainNumbers?: boolean;
  /** The format is this one, as the agency publishes it. */
  format?: 'csv' | 'tsv';
  /** A total over all dates may follow the rows. */
  sumsDown?: boolean;
  /** There is nothing above or below the table. */
  bare?: boolean;
}

const every: readonly Frequency[] = ['annual', 'semiannual', 'quarterly', 'monthly', 'weekly', 'daily'];
const partsOfYears: readonly Frequency[] = ['quarterly', 'monthly'];
const longPeriods: readonly Frequency[] = ['annual', 'quarterly', 'monthly'];

export const layouts: readonly Layout[] = [
  { name: 'one series', weight: 10, frequencies: every, write: oneSeries, sumsDown: true },
  { name: 'wide', weight: 10, frequencies: every, write: wide, sumsDown: true },
  { name: 'wide, a blank column', weight: 2, frequencies: every, write: sparse, sumsDown: true },
  { name: 'long', weight: 10, frequencies: every, write: long },
  { name: 'long, two dimensions', weight: 6, frequencies: every, write: longMeasures },
  { name: 'codes beside names', weight: 6, frequencies: every, write: codeAndName },
  { name: 'columns of flags', weight: 4, frequencies: every, write: flagColumns },
  { name: 'a column of statuses', weight: 4, frequencies: every, write: statusColumn },
  {
    name: 'magnitudes',
    weight: 2,
    frequencies: ['daily'],
    write: magnitudes,
    language: 'en',
    bare: true,
    plainNumbers: true,
  },
  { name: 'periods across', weight: 9, frequencies: longPeriods, write: across },
  { name: 'flags across', weight: 3, frequencies: longPeriods, write: flagsAcross },
  {
    name: 'years down, parts across',
    weight: 7,
    frequencies: partsOfYears,
    write: yearGrid,
    wholeYears: true,
    ownDates: 'year and part apart',
  },
  {
    name: 'parts down, years across',
    weight: 5,
    frequencies: partsOfYears,
    write: partGrid,
    wholeYears: true,
    ownDates: 'year and part apart',
  },
  {
    name: 'year and part in columns',
    weight: 8,
    frequencies: partsOfYears,
    write: yearAndPart,
    ownDates: 'year and part apart',
  },
  { name: 'two rows of titles', weight: 5, frequencies: every, write: twoHeaders, sumsDown: true },
  {
    name: 'years over parts',
    weight: 5,
    frequencies: partsOfYears,
    write: yearsOverParts,
    ownDates: 'year and part apart',
  },
  {
    name: 'totals between',
    weight: 3,
    frequencies: ['monthly'],
    write: totalsBetween,
    wholeYears: true,
    ownDates: 'year and part apart',
  },
  {
    name: 'two columns of years',
    weight: 2,
    frequencies: ['annual'],
    write: twoYears,
    language: 'en',
    ownDates: 'calendar and fiscal year',
  },
  { name: 'ABS', weight: 4, frequencies: longPeriods, write: abs, language: 'en', bare: true },
  { name: 'RBA', weight: 4, frequencies: longPeriods, write: rba, language: 'en', bare: true },
  { name: 'ONS', weight: 4, frequencies: longPeriods, write: ons, language: 'en', bare: true },
  { name: 'a line of units', weight: 4, frequencies: every, write: unitLine, language: 'en', bare: true },
  {
    name: 'SDMX-CSV',
    weight: 7,
    frequencies: every,
    write: sdmxCsv,
    language: 'en',
    ownDates: 'SDMX',
    plainNumbers: true,
    bare: true,
  },
  {
    name: 'Eurostat TSV',
    weight: 4,
    frequencies: longPeriods,
    write: eurostat,
    language: 'en',
    ownDates: 'SDMX',
    plainNumbers: true,
    format: 'tsv',
    bare: true,
  },
  {
    name: 'Statistics Canada',
    weight: 3,
    frequencies: longPeriods,
    write: statCan,
    language: 'en',
    ownDates: 'SDMX',
    plainNumbers: true,
    format: 'csv',
    bare: true,
  },
  {
    name: 'BLS',
    weight: 3,
    frequencies: ['monthly'],
    write: bls,
    language: 'en',
    ownDates: 'BLS',
    plainNumbers: true,
    bare: true,
  },
  {
    name: 'country and indicator',
    weight: 4,
    frequencies: longPeriods,
    write: countryIndicator,
    language: 'en',
    ownDates: 'SDMX',
    plainNumbers: true,
    bare: true,
  },
  {
    name: 'releases',
    weight: 3,
    frequencies: ['quarterly', 'monthly', 'annual'],
    write: releases,
    language: 'en',
    ownDates: 'ISO',
    plainNumbers: true,
    bare: true,
  },
  {
    name: 'identifiers',
    weight: 4,
    frequencies: ['monthly', 'daily', 'weekly'],
    write: identifiers,
    language: 'en',
    plainNumbers: true,
    bare: true,
  },
  { name: 'series keys', weight: 4, frequencies: every, write: seriesKeys, language: 'en', bare: true },
  {
    name: 'mixed frequencies',
    weight: 3,
    frequencies: ['monthly'],
    write: mixedFrequencies,
    language: 'en',
    ownDates: 'SDMX',
    plainNumbers: true,
    bare: true,
  },
];
