import test from 'ava';
import { scaleAbove, scaleIn } from './scales.ts';

const exponentOf = (text: string) => scaleAbove([text])?.exponent ?? null;

test('a scale is stated by a line, a part of it in brackets, or a cell of units', (t) => {
  for (const [text, exponent] of [
    ['[Billions of dollars] Seasonally adjusted at annual rates', 9],
    ['(Millions of chained 2017 dollars)', 6],
    ['Table 3. Real GDP (Millions of chained 2017 dollars)', 6],
    ['thousands', 3],
    ['mn EUR', 6],
    ['EUR mn', 6],
    ['Umsatz (Mio. EUR)', 6],
    ['Exports, millions of dollars', 6],
    ['Unit : Million Won', 6],
    ['(unit: 100 million yuan)', 8],
    ['Ten thousand', 4],
    ['(10 thousand tons)', 4],
    ['Labour force (1,000 persons)', 3],
    ['Umsatz in 1 000 EUR', 3],
    ['Receipts (₹ crore)', 7],
    ['R million', 6],
    ["Output ('000 tonnes)", 3],
    ['Current prices, EUR million', 6],
    ['Bbp, mln euro', 6],
    ['Валовой внутренний продукт, миллионов рублей', 6],
    ['Exportações (milhões de euros)', 6],
    ['w tys. osób', 3],
    ['单位：亿元', 8],
    ['人口（千人）', 3],
    ['국내총생산 (십억원)', 9],
    ['Miles de millones de pesos', 9],
    ['PIB (mil milhões de euros)', 9],
    ['Thousand million euros', 9],
    ['In thousands of millions of rupees', 9],
    ['Rs. lakh crore', 12],
    ['Households (in hundreds of thousands)', 5],
    ['Deuda (millones de millones)', 12],
    ['£m', 6],
    ['€ m, current prices', 6],
    ['GDP £bn', 9],
    ['Unit: EUR m', 6],
    ['PIB (Md€)', 9],
    ['en k€', 3],
    ['mil. Kč', 6],
    ['Mil pessoas', 3],
    ['Bin ton', 3],
    ['x 1 000 euro', 3],
    ['1000 osób', 3],
    ['000 tonnes', 3],
    ['Kshs Million', 6],
    ['億元', 8],
    ['GDP (nghìn tỷ đồng)', 12],
    ['BNP, mnkr', 6],
    ['Trade (₹ thousand crore)', 10],
    ["Trade (Rs. '000 crore)", 10],
    ["Money supply (Rs. '000 million)", 9],
    ['£000 million', 9],
    ['Trade (1,000 million rupees)', 9],
    ['Exports (hundred billion won)', 11],
    ['Distance (million miles)', 6],
  ] as const)
    t.is(exponentOf(text), exponent, text);
  t.is(scaleIn('100 million'), 8);
});

test('a rate, a large number of something else and a part of a number are not scales', (t) => {
  for (const text of [
    'Deaths (per thousand)',
    'Births (per million inhabitants)',
    'Deaths per 100 000',
    'Firms with 5 million or more',
    'One hundred firms',
    'Deaths (per 1000 population)',
    'Geburten (je 1000 Einwohner)',
    'Sample: 1000 households',
    'Index (2015=100)',
    'Prices, 1 000 = 100',
    'Share index (1000 = 31.12.1990)',
    '(千葉県)',
    'Rent (€/m²)',
    'Land (€ m²)',
    'Gas (€/MWh)',
    'Money supply M2',
    '1000 and over',
    '1,000 to 4,999 employees',
    'Milano',
    'Bin collection',
    'Area in km',
  ])
    t.is(exponentOf(text), null, text);
});

test('`miles` is certain to be a scale only in Spanish', (t) => {
  for (const text of ['En miles de pesos', 'Miles de personas'])
    t.like(scaleAbove([text]), { exponent: 3, isSure: true });
  for (const text of ['Distance in miles', 'Road length (miles)']) t.false(scaleAbove([text])?.isSure, text);
});
