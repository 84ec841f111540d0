import test from 'ava';
import { htmlTable, htmlText } from './html-table.ts';

test('the largest table of a web page is read as text, with spanning cells repeated', (t) => {
  const page = `<html><body><table><tr><td>Menu</td></tr></table>
    <table><thead><tr><th rowspan="2">Year</th><th colspan="2">Trade&nbsp;(&euro;)</th></tr><tr><th>Exports<br>total</th><th>Imports</th></tr></thead>
    <tr><td>2010<td>1,13<td><b>2,5</b></tr><tr><td>2011</td><td>01/02/2023</td><td></td></tr></table></body></html>`;
  t.deepEqual(htmlTable(page), [
    ['Year', 'Trade (€)', ''],
    ['Year', 'Exports total', 'Imports'],
    ['2010', '1,13', '2,5'],
    ['2011', '01/02/2023', ''],
  ]);
  t.is(htmlTable('<html><p>no table</p></html>'), null);
});

test('a footnote number is not read as a digit of the number next to it', (t) => {
  const page =
    '<table><tr><th>Year<th>Area (km<sup>2</sup>)<tr><td>2022<sup>1)</sup><td>1020<sup>2, 3</sup><tr><td>2023<sup>p</sup><td>10';
  t.deepEqual(htmlTable(page), [
    ['Year', 'Area (km²)'],
    ['2022¹', '1020²³'],
    ['2023p', '10'],
  ]);
  t.is(htmlText('<span>10</span><sup>-3</sup> &lt;t&gt;<br/>5'), '10⁻³ <t>\n5');
});
