// How the dashboard names combinations of dimension values.
import test from 'ava';
import { combinationText } from '../../../dashboard/text/combinations.ts';

test('a combination is named by the labels of its values, in the order of the dimensions', (t) => {
  const dims: Parameters<typeof combinationText>[0] = [
    { name: 'currency', labels: { EUR: 'Euro' } },
    { name: 'side', labels: { sell: 'Sold' } },
  ];
  t.is(combinationText(dims, { side: 'buy', currency: 'EUR' }), 'Euro, buy');
  t.is(combinationText(dims, { currency: 'USD' }), 'USD');
});
