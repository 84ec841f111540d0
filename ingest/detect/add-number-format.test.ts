import test from 'ava';
import { proposed } from '../../test/ingest/proposing.ts';

test('numbers of one series with three digits behind a point beside whole ones of their size are a guess', (t) => {
  const column = (...cells: string[]) =>
    proposed([['Year', 'Value'], ...cells.map((cell, at) => [String(2015 + at), cell])]).entry;
  t.like(column('12.345', '12345', '13.400', '12999'), { decimal: '.', guessed: ['decimal'] });
  t.is(column('12.345', '12345', '13.4', '12999').guessed, undefined);
  t.is(column('12.345', '0.512', '13.400', '12999').guessed, undefined);
  t.is(column('12.345', '123', '13.400', '12.999').guessed, undefined);
  const across = (first: string, second: string) =>
    proposed([
      ['Area', '2015', '2016'],
      ['North', '12.345', first],
      ['South', '14345', second],
    ]).entry;
  t.like(across('12345', '14999'), { decimal: '.', guessed: ['decimal'] });
  t.is(across('13.001', '14999').guessed, undefined);
});

test('numbers in parentheses beside the sign / may be uncertain, and not below zero', (t) => {
  const guessed = (sign: string) =>
    proposed([
      ['Jahr', 'Einfuhr', 'Ausfuhr'],
      ['2020', '10', '11'],
      ['2021', sign, '(12)'],
      ['2022', '13', '14'],
    ]).entry.guessed ?? [];
  t.true(guessed('/').includes('negative'));
  t.false(guessed('-').includes('negative'));
});
