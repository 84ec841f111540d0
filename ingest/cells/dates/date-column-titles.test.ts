import test from 'ava';
import { isDateTitle, hasWordOfKind } from './date-column-titles.ts';

test('a title for dates is recognised in the languages of statistical offices, and other titles are not', (t) => {
  for (const title of [
    'Date',
    'REF_DATE',
    'Observation date',
    'TimePeriod',
    'Fiscal year',
    'Year / Month',
    'Data',
    'Año',
    'Gads',
    'Bliain',
    'Xahar',
    'Čtvrtletí',
    'Τρίμηνο',
    'Год',
    '年月',
    '연도',
    'obsdate',
    'epoch_seconds',
  ])
    // prettier-ignore
    t.true(isDateTitle(title), title);
  for (const title of [
    '',
    'no data',
    'Data source',
    'FY 1995-96',
    '2024',
    'Candidates',
    'Price',
    'Monthly index',
    'No.',
    'Region code',
  ])
    // prettier-ignore
    t.false(isDateTitle(title), title);
  t.deepEqual([hasWordOfKind('month', 'month_no'), hasWordOfKind('month', 'Year'), hasWordOfKind('quarter', 'Kwartaal')], [true, false, true]); // prettier-ignore
});
