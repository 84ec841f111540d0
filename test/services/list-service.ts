// Shared by the tests of list endpoints: a data-api with loaded files.
import { openDatabase } from '../../kernel/database.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { startDataService, type Answer, type DataService } from './data-service.ts';
import { silentLog } from './harness.ts';
import { loadCsv } from '../ingest/loading.ts';

export interface ListBody {
  success: boolean;
  data: Record<string, unknown>[];
  count: number;
  pagination: { next_cursor: string | null; count: number; total?: number };
  meta?: { hints?: string[] };
  error: { code: string; message: string; param?: string };
}

export interface ListService extends DataService {
  /** Loads CSV lines into a dataset. */
  load(dataset: string, lines: readonly string[], options?: Partial<LoadOptions>): Promise<void>;
  list(path: string): Promise<ListBody>;
  /** One field of every row. */
  column(path: string, field: string): Promise<unknown[]>;
  /** One field of every row, read page by page. */
  readPages(path: string, field: string, limit: number): Promise<unknown[]>;
}

/** @param more further options of the service. */
export async function startListService(more?: Parameters<typeof startDataService>[2]): Promise<ListService> {
  const service = await startDataService(undefined, undefined, more);
  const list = async (path: string) => (await service.call(path)).json as ListBody;
  const column = async (path: string, field: string) => (await list(path)).data.map((row) => row[field]);
  return {
    ...service,
    list,
    column,
    async load(dataset, lines, options = {}) {
      const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
      try {
        await loadCsv(database, lines, { dataset, clock: service.clock, ...options });
      } finally {
        await database.close();
      }
    },
    async readPages(path, field, limit) {
      const paged: unknown[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: ListBody = await list(
          `${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
        );
        paged.push(...page.data.map((row) => row[field]));
        cursor = page.pagination.next_cursor;
      }
      return paged;
    },
  };
}

/** The first line of a CSV answer, and the others. */
export function csvLines({ text }: Answer): { header: string | undefined; lines: string[] } {
  const [header, ...lines] = text.split('\r\n');
  return { header, lines: lines.slice(0, -1) };
}
