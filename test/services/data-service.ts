// data-api for tests: only this service, with its own database, called with a sealed identity like the gateway does.
import pg from 'pg';
import { systemClock } from '../../kernel/clock.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import {
  createTestDatabase,
  fakeClock,
  silentLog,
  testIdentitySecret,
  testReplica,
  type FakeClock,
} from './harness.ts';
import { startDataApis } from './production.ts';

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  /** The body, if it is JSON. */
  json: unknown;
}

export interface DataService {
  url: string;
  databaseUrl: string;
  /** Connections to the service's database, for fixtures. */
  pool: pg.Pool;
  clock: FakeClock;
  /** Calls with an identity that has every feature, or with the given one. */
  call(path: string, init?: RequestInit & { identity?: Identity }): Promise<Answer>;
  /** The headers of such a call. */
  headers(target: string, identity?: Identity, method?: string): Record<string, string>;
  close(): Promise<void>;
}

export const proAccount: Identity = {
  scope: 'client',
  accountId: '00000000-0000-4000-8000-000000000001',
  keyId: '00000000-0000-4000-8000-000000000002',
  keyHash: null,
  sessionId: null,
  plan: 'pro',
  features: ['vintages', 'bulk', 'webhooks'],
  operator: false,
  asOf: null,
};
export const freeAccount: Identity = { ...proAccount, plan: 'free', features: [] };
export const publicCaller: Identity = anonymous;

const publicUrl = 'https://almanac.example';

interface OwnSettings {
  previewPoints?: number;
  openRevisionsSeries?: string;
  bulkPlace?: BulkPlace | undefined;
  frontPageFile?: string;
}

/** The settings for the location of the bulk files. */
export function bulkSettings(place: BulkPlace | undefined): Record<string, string> {
  if (place === undefined) return {};
  if ('directory' in place) return { BULK_DIR: place.directory };
  return {
    ...{ BULK_S3_ENDPOINT: place.endpoint, BULK_S3_REGION: place.region, BULK_S3_BUCKET: place.bucket },
    ...{ BULK_S3_PREFIX: place.prefix, BULK_S3_PATH_STYLE: String(place.isPathStyle) },
    ...{ AWS_ACCESS_KEY_ID: place.accessKeyId, AWS_SECRET_ACCESS_KEY: place.secretAccessKey },
  };
}

/** @param now the service's clock, which is stopped. */
export async function startDataService(
  now = '2026-06-15T12:00:00Z',
  seriesTimeZone = 'UTC',
  { previewPoints = 120, openRevisionsSeries = '', bulkPlace, frontPageFile }: OwnSettings = {},
): Promise<DataService> {
  const testDatabase = await createTestDatabase();
  const clock = fakeClock(now);
  const databaseUrl = serviceUrl(testDatabase.url, 'almanac_data_api');
  const replica = testReplica(databaseUrl);
  const service = await (replica === undefined
    ? (await import('../../data-api/main.ts')).start({
        ...{ databaseUrl, identitySecret: testIdentitySecret, host: '127.0.0.1', port: 0, log: silentLog },
        ...{ seriesTimeZone, clock, previewPoints, openRevisionsSeries, publicUrl, bulkPlace },
        frontPageFile,
      })
    : startDataApis(
        testDatabase.url,
        {
          ...{ SERIES_TIME_ZONE: seriesTimeZone, PREVIEW_POINTS: String(previewPoints) },
          ...{
            OPEN_REVISIONS_SERIES: openRevisionsSeries,
            PUBLIC_URL: publicUrl,
            ...bulkSettings(bulkPlace),
            FRONT_PAGE_FILE: frontPageFile ?? '',
          },
        },
        clock,
      ));
  const pool = new pg.Pool({ connectionString: testDatabase.url, max: 4 });
  // Separate processes use the clock of the test; a service in this process checks identities by the machine's clock.
  const seal = createSealer(testIdentitySecret, 'data-api', replica === undefined ? systemClock : clock);
  const headers = (target: string, identity = proAccount, method = 'GET') => ({
    [identityHeader]: seal(identity, method, target),
  });
  return {
    url: service.url,
    databaseUrl: testDatabase.url,
    pool,
    clock,
    headers,
    async call(path, { identity, headers: more, ...init } = {}) {
      const response = await fetch(service.url + path, {
        ...init,
        headers: { ...headers(path, identity, init.method), ...(more as Record<string, string> | undefined) },
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: isJson && text !== '' ? (JSON.parse(text) as unknown) : undefined,
      };
    },
    async close() {
      await pool.end();
      await service.close();
      await testDatabase.drop();
    },
  };
}
