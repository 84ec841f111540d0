// Tables whose dates a person reads and the detector does not: each refusal says what to write instead.
import test from 'ava';
import { about, sampleOf } from '../../test/ingest/proposing.ts';
import { propose } from './propose.ts';

const refusal = (lines: readonly string[], sheet?: string): string => {
  const rows = lines.map((line) => line.split(','));
  const { entry } = propose(sampleOf(rows), { ...about, sheet });
  return entry.skip ?? '';
};

test('parts of fiscal years, years of an era and other digits are named, with what to write instead', (t) => {
  for (const [first, second, expected] of [
    ['FY2023 Q1', 'FY2023 Q2', /^"FY2023 Q1" on line 2 is a part of a fiscal year, .* as in 2023-Q3$/],
    ['2022-23 Q1', '2022-23 Q2', /^"2022-23 Q1" on line 2 is a part of a fiscal year/],
    ['Jul-FY24', 'Aug-FY24', /^"Jul-FY24" on line 2 is a part of a fiscal year/],
    ['令和5年1月', '令和5年2月', /^"令和5年1月" on line 2 has the year of an era: .* as in 2023年1月$/],
    ['112年1月', '112年2月', /has the year of an era/],
    ['1401', '1402', /^"1401" on line 2 may be a year of the Iranian or Islamic calendar/],
    ['24-Jan', '24-Feb', /^"24-Jan" on line 2 is a day without a year, or a year of two digits and a month/],
    ['٢٠٢١', '٢٠٢٢', /has digits other than 0 to 9/],
  ] as const)
    t.regex(refusal(['Period,Value', `${first},1.5`, `${second},2.5`]), expected);
});

test('months without a year are refused with the place of the year that may be theirs', (t) => {
  const rows = ['Month,Index', 'Jan,1.5', 'Feb,2.5', 'Mar,3.5'];
  t.regex(refusal(rows, '2022'), /^"Jan" and others have no year\. If the year of the name "2022" is theirs/);
  t.regex(refusal(['Prices 2021', ...rows]), /If the year of "Prices 2021" on line 1 is theirs/);
  t.regex(
    refusal(['Section,Goods', 'I,1.5', 'II,2.5', 'III,3.5']),
    /^it has no dates/,
    'numbers of sections',
  );
  t.is(refusal(rows), '"Jan" and others have no year: put it into each, as in "2024 Jan"');
});

test('years behind several words are refused with the words', (t) => {
  const rows = ['Region,Births 2021,Births 2022,Deaths 2021,Deaths 2023', 'North,1,2,3,4', 'South,5,6,7,8'];
  t.regex(
    refusal(rows),
    /^its titles have years behind several words, such as "Births" and "Deaths": make a file for each/,
  );
});

test('times of day are refused with the line', (t) => {
  const hours = Array.from({ length: 5 }, (_, at) => `2024-01-01 0${at + 1}:00,${at}.5`);
  t.regex(
    refusal(['Time,MW', ...hours]),
    /^"2024-01-01 01:00" on line 2 has a time of day, .* without the time$/,
  );
});

test('ranges of days are refused with what to write instead', (t) => {
  const weeks = ['01-07 Jan 2024', '08-14 Jan 2024', '29 Jan-04 Feb 2024'];
  t.regex(
    refusal(['Week,Price', ...weeks.map((week, at) => `${week},${at}.5`)]),
    /"01-07 Jan 2024" on line 2 is a range of days: .* 2024-01-01\/2024-01-07/,
  );
});

test('a fiscal year behind a word is not called a part of one', (t) => {
  const years = ['Item,Budget 2022-23,Revised 2022-23,Budget 2023-24', 'Revenue,1,2,3', 'Spending,4,5,6'];
  t.notRegex(refusal(years), /is a part of a fiscal year/);
  t.regex(refusal(['Month,Rate', 'July 2022-23,1.5', 'August 2022-23,2.5']), /is a part of a fiscal year/);
});
