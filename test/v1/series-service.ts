// Shared by the tests of the series endpoints: a service with two series, one plain, one with dimensions; and how to call it.
import type { TestFn } from 'ava';
import { startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish, type FixturePoint } from './series-fixture.ts';

export interface Point {
  date: string;
  value: number | null;
  dims: Record<string, string>;
}

export interface Envelope {
  success: boolean;
  series: string;
  meta: Record<string, unknown>;
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

const cpi: FixturePoint[] = [
  { date: '2023-10-31', value: '99.50' },
  { date: '2023-11-30', value: null },
  { date: '2023-12-31', value: '-0.5' },
  { date: '2024-01-31', value: '100.00' },
  { date: '2024-02-29', value: '100.10', status: 'P' },
  { date: '2024-03-31', value: '123456789012345678901234567890.123456789' },
];

export const trades: FixturePoint[] = [
  '2024-01-02',
  '2024-01-03',
  '2024-01-04',
  '2024-01-05',
  '2024-01-08',
].flatMap((date, day) =>
  ['buy', 'sell'].flatMap((side, s) =>
    ['Karachi', 'Lahore', '=cmd'].flatMap((city, c) =>
      // Not every combination has every date.
      (day + c + s) % 4 === 3 ? [] : [{ date, value: `${day}.${s}${c}`, dims: { side, city } }],
    ),
  ),
);

export interface SeriesService {
  /** Started before the first test. */
  service: DataService;
  series(path: string): Promise<Envelope>;
  refusal(path: string): Promise<{ status: number; code: string; param: string; message: string }>;
}

/** The service with CPI and TRADES; closed when the tests are over. */
export async function startSeriesService(test: TestFn): Promise<SeriesService> {
  const service = await startDataService();
  await makeSeries(service.pool, {
    id: 'CPI',
    name: 'Consumer prices',
    unit: 'Index',
    category: 'prices/consumer',
    tags: ['inflation'],
  });
  await publish(service.pool, 'CPI', '2024-04-10', cpi);
  await makeSeries(service.pool, { id: 'TRADES', frequency: 'daily', dimensions: ['side', 'city'] });
  await publish(service.pool, 'TRADES', '2024-01-09', trades);
  test.after.always(() => service.close());
  return {
    service,
    async series(path) {
      return (await service.call(path)).json as Envelope;
    },
    async refusal(path) {
      const { status, json } = await service.call(path);
      const { code, param = '', message } = (json as Envelope).error;
      return { status, code, param, message };
    },
  };
}
