// The demo's commodities: four items sold in three cities of Demoland, priced every Thursday. All of it synthetic.
import { addDays } from '../../kernel/dates.ts';
import { random, source, type DemoFile } from './demo-file.ts';

const firstThursday = '2023-01-05';

const items = [
  { id: 'demo-rice', name: 'Rice', category: 'Food/Cereals', unit: '1 kg', price: 3.2 },
  { id: 'demo-wheat-flour', name: 'Wheat flour', category: 'Food/Cereals', unit: '10 kg bag', price: 14 },
  { id: 'demo-milk', name: 'Milk', category: 'Food/Dairy', unit: '1 l', price: 1.6 },
  { id: 'demo-petrol', name: 'Petrol', category: 'Energy', unit: '1 l', price: 1.9 },
];
const cities = [
  { id: 'northport', name: 'Northport', province: 'North', latitude: 51.2, longitude: -20.1, level: 1.04 },
  { id: 'midtown', name: 'Midtown', province: 'South', latitude: 49.8, longitude: -19.4, level: 1 },
  { id: 'southbay', name: 'Southbay', province: 'South', latitude: 48.9, longitude: -20.6, level: 0.97 },
];

/** Items, cities, and their prices. @param lastDay the last day of the prices, which is also their vintage. */
export function commodityFiles(lastDay: string): DemoFile[] {
  return [
    {
      dataset: 'commodity-items',
      *lines() {
        yield 'item_id,name,category,unit,unit_quantity,unit_measure,currency,frequency,source,active';
        for (const { id, name, category, unit } of items) {
          const [quantity, measure] = unit.split(' ');
          yield [id, name, category, unit, quantity, measure, 'DMD', 'weekly', source, 'true'].join(',');
        }
      },
    },
    {
      dataset: 'commodity-cities',
      *lines() {
        yield 'city_id,name,province,latitude,longitude';
        for (const { id, name, province, latitude, longitude } of cities)
          yield [id, name, province, latitude, longitude].join(',');
      },
    },
    { dataset: 'commodity-prices', vintage: lastDay, lines: () => priceLines(lastDay) },
  ];
}

/** Each item's level is a random walk; each city has its own offset from it, and weekly noise. */
function* priceLines(lastDay: string): Iterable<string> {
  yield 'item,city,date,price,price_type,stat';
  for (const { id, price } of items) {
    const draw = random(`price of ${id}`);
    let level = price;
    for (let day = firstThursday; day <= lastDay; day = addDays(day, 7)) {
      level *= 1 + 0.001 + 0.02 * (draw() - 0.5);
      for (const city of cities) {
        const retail = level * city.level * (1 + 0.01 * (draw() - 0.5));
        yield [id, city.id, day, retail.toFixed(2), 'retail', 'avg'].join(',');
        yield [id, city.id, day, (retail * 0.86).toFixed(2), 'wholesale', 'avg'].join(',');
      }
    }
  }
}
