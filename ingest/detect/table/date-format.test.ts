import test from 'ava';
import { detectDates } from './date-format.ts';

test('years that a program has written as decimals are years, unless there are quarters among them', (t) => {
  t.is(detectDates(['2008.0', '2009.0', '2010.0'], { allowsNumbers: true })?.kind, 'year');
  t.is(detectDates(['2008.0', '2008.25', '2008.5'], { allowsNumbers: true })?.kind, 'quarter');
});

test('a day above 12 or regular steps decide which part is the month; otherwise it is a guess', (t) => {
  const found = (texts: string[]) => {
    const form = detectDates(texts);
    return [form?.style.format, form?.isSure];
  };
  t.deepEqual(found(['03/01/2024', '13/01/2024']), ['D/M/YYYY', true]);
  const firsts = Array.from({ length: 24 }, (_, at) => `${(at % 12) + 1}/1/${at < 12 ? 1959 : 1960}`);
  t.deepEqual(found(firsts), ['M/D/YYYY', true]);
  t.is(detectDates(firsts.slice(0, 5))?.isSure, false, 'five days of a month, or five months');
  t.is(detectDates(['01/01/2024'])?.read('01/01/2024')?.from, '2024-01-01');
  t.deepEqual(found(['2024-01-31', '2024-02-29']), [undefined, true]);
  t.is(detectDates(['12', '13', '14']), null);
});

test('numbers with only one reading as dates are read that way: parts of a year, lost zeros, seconds', (t) => {
  const formOf = (texts: string[], isTitles = false) => {
    const found = detectDates(texts, { allowsNumbers: true, isTitles });
    return [found?.style.format, found?.kind, found?.isSure];
  };
  t.deepEqual(formOf(['2011.917', '2012.000', '2012.083', '2012.167', '2012.250']), [
    'decimal year',
    'month',
    true,
  ]);
  t.deepEqual(formOf(['2012', '2012.25', '2012.5', '2012.75', '2013']), ['decimal quarter', 'quarter', true]);
  t.deepEqual(formOf(['2016.09', '2016.1', '2016.11', '2016.12', '2017.01'], true), [
    'YYYY.MM',
    'month',
    true,
  ]);
  const quarters = ['2019-03', '2019-04', '2020-01', '2020-02', '2020-03', '2020-04', '2021-01'];
  for (const mark of ['', '(p)'])
    t.like(detectDates([...quarters, `2021-02${mark}`], { title: '日期' }), {
      kind: 'quarter',
      isSure: false,
    });
  t.deepEqual(formOf(['899078400', '899164800', '899251200']), ['epoch seconds', 'day', true]);
  t.deepEqual(
    detectDates(['2001KW03', '2001KW04', '2002KW01', '2002KW02'], { title: 'Kwartaal' })?.kind,
    'quarter',
  );
  t.like(detectDates(['2001KW01', '2001KW02', '2001KW03']), { kind: 'week', isSure: false });
  t.like(detectDates(['KW 9 2001', 'KW 10 2001', 'KW 11 2001']), { kind: 'week', isSure: true });
});

test('footnotes and letters with a slash behind dates are marks, and words before the end of a period are no part of it', (t) => {
  const years = detectDates(['2021', '2022 1/', '2023 p/', '2024 1/ 2/'], { allowsNumbers: true });
  t.true(years?.isSure, 'they are no quarters as decimals');
  t.deepEqual(years?.style.marks, { '1/': null, 'p/': 'p', '1/ 2/': null });
  t.like(years?.read('2024 1/ 2/'), { from: '2024-01-01', to: '2024-12-31' });
  t.is(years?.read('2023 p/')?.status, 'p');
  const ends = detectDates(['End-Jun 2022', 'End of September 2022', 'end Dec 2022', 'As at Mar 2023']);
  t.deepEqual(
    ['End-Jun 2022', 'End of September 2022'].map((text) => ends?.read(text)?.to),
    ['2022-06-30', '2022-09-30'],
  );
});

test('quarters written as months, and years written as weeks, need confirmation', (t) => {
  const of = (texts: string[], title = 'Period') => {
    const found = detectDates(texts, { allowsNumbers: true, title });
    return [found?.isSure, /could be/.test(found?.evidence ?? '')];
  };
  const parts = ['202101', '202102', '202103', '202104', '202201'];
  t.deepEqual(of(parts), [false, true]);
  t.deepEqual(of(parts, 'Month'), [true, false]);
  t.deepEqual(of([...parts, '202205']), [true, false]);
  t.deepEqual(of(['2010-12', '2013-15', '2016-18', '2019-21']), [false, true]);
  t.deepEqual(of(['2020-51', '2020-52', '2021-01', '2021-02'], 'Week'), [true, false]);
});

test('an r behind a year means revised beside years without it, and is the word for year if all have it', (t) => {
  const marked = detectDates(['2020', '2021r', '2022p']);
  t.deepEqual(marked?.style.marks, { r: 'r', p: 'p' });
  t.like(marked?.read('2021r'), { from: '2021-01-01', status: 'r' });
  const polish = detectDates(['2020r', '2021r', '2022r']);
  t.is(polish?.style.marks, undefined);
  t.like(polish?.read('2021r'), { kind: 'year', status: '' });
});

test('a decade is not a year with a mark', (t) => {
  t.is(detectDates(['1950s', '1960s', '1970s']), null);
  t.deepEqual(detectDates(['1950', '1961', '1972s'])?.style.marks, { s: 's' });
});
