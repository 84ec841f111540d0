// Prices of three goods in four cities, for the tests of /v1/commodities and /v1/commodities/by-city, and calls of both.
import { startDataService, type DataService } from '../services/data-service.ts';
import { publish, type FixturePoint } from './series-fixture.ts';

export interface Envelope {
  success: boolean;
  series: string;
  meta: Record<string, unknown>;
  data: { date: string; value: number | null; dims: Record<string, string>; [field: string]: unknown }[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

export const price = (
  date: string,
  city: string,
  value: string | null,
  price_type = 'retail',
  stat = 'avg',
): FixturePoint => ({
  date,
  value,
  dims: { city, price_type, stat },
});

export interface Commodities {
  service: DataService;
  prices: (parameters: Record<string, string>) => Promise<Envelope>;
  byCity: (parameters: Record<string, string>) => Promise<Envelope>;
}

export async function startCommodities(): Promise<Commodities> {
  const service = await startDataService('2026-06-15T12:00:00Z');
  await service.pool.query(`
    insert into data.commodity_items (item_id, name, category, unit, unit_quantity, currency, frequency, source, active)
    values ('rice', 'Rice (basmati)', 'cereals', '1 Kg', 1, 'PKR', 'monthly', 'Price Office', true),
      ('milk', 'Milk', 'dairy', '1 L', 1.0, 'PKR', 'weekly', 'Price Office', null),
      ('salt', 'Salt', 'other', '1 Kg', null, 'PKR', 'monthly', 'Price Office', null),
      ('tea', 'Tea', 'other', '1 Kg', 1, 'PKR', 'monthly', 'Price Office', null)`);
  await service.pool.query(`
    insert into data.commodity_cities (city_id, name, province, latitude, longitude)
    values ('lahore', 'Lahore', 'Punjab', 31.549722, 74.343611), ('karachi', 'Karachi', 'Sindh', 24.9056, 67.0822),
      ('quetta', 'Quetta', null, null, null),
      ('multan', 'Multan', 'Punjab', null, null)`);
  await publish(service.pool, 'commodity.rice', '2026-02-05', [
    price('2025-01-31', 'lahore', '100.00'),
    price('2025-01-31', 'karachi', '110.00'),
    price('2025-12-31', 'lahore', '119.00'),
    price('2026-01-31', 'lahore', '120.50'),
    price('2026-01-31', 'karachi', '110.00'),
    price('2026-01-31', 'quetta', '130'),
    price('2026-01-31', 'lahore', '90', 'wholesale'),
    price('2026-01-31', 'lahore', '118', 'retail', 'min'),
  ]);
  await publish(service.pool, 'commodity.rice', '2026-03-05', [
    price('2026-01-31', 'quetta', '140'),
    price('2026-02-28', 'lahore', '121'),
    price('2026-02-28', 'karachi', null),
  ]);
  await publish(service.pool, 'commodity.milk', '2026-06-12', [
    price('2025-06-11', 'lahore', '200'),
    price('2026-06-04', 'lahore', '210'),
    price('2026-06-04', 'karachi', '220'),
    price('2026-06-11', 'lahore', '220.5'),
    price('2026-06-11', 'karachi', '220.5'),
    price('2026-06-11', 'quetta', '180'),
    price('2026-05-01', 'lahore', '150', 'farmgate'),
  ]);
  const get = (path: string) => async (parameters: Record<string, string>) =>
    (await service.call(`${path}?${String(new URLSearchParams(parameters))}`)).json as Envelope;
  return { service, prices: get('/v1/commodities'), byCity: get('/v1/commodities/by-city') };
}
