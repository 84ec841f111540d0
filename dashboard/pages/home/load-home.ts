// The content of the front page: the texts, blocks and series that the operator has configured, and the series with the newest data.
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { api } from '../../api/clients.ts';
import { previewsOf, type PreviewPoint } from '../../api/previews.ts';
import type { CatalogRow } from '../../components/series-table.tsx';

export type FrontPage = AnswerOf<'get', '/v1/front-page'>['data'];
export type Block = FrontPage['blocks'][number];

export interface Home {
  page: FrontPage;
  /** With its facets. */
  catalog: AnswerOf<'get', '/v1/catalog'>;
  newest: readonly CatalogRow[];
  /** Series for examples: the newest, or if none is new, those published last. */
  rows: readonly CatalogRow[];
  previews: ReadonlyMap<string, PreviewPoint[]>;
}

export const newestCount = 6;

/** @param onPage called with the configured page before the rest has arrived. */
export async function loadHome(signal: AbortSignal, onPage: (page: FrontPage) => void): Promise<Home> {
  const query = { sort: '-last_updated', limit: newestCount, facets: true } as const;
  const [page, catalog] = await Promise.all([
    api.get('/v1/front-page', { signal }).then(({ data }) => {
      onPage(data);
      return data;
    }),
    api.get('/v1/catalog', { query, signal }),
  ]);
  const newest = page.newest.slice(0, newestCount);
  const rows = newest.length > 0 ? newest : catalog.data;
  const ids = new Set([...page.series, ...rows].map(({ id }) => id));
  return { page, catalog, newest, rows, previews: await previewsOf([...ids], { signal }) };
}
