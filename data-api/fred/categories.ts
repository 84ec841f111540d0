// GET /fred/category, /fred/category/children, /fred/category/series and /fred/series/categories: the tree of categories. A category is a
// path, such as `prices/consumer`; its number is derived from the path, and every prefix of it is a category too.
import { z } from 'zod';
import { nameId, numberOfNameId } from '../../domain/name-id.ts';
import { catalogList, catalogWhere, listCategories } from '../discovery/discovery.sql.ts';
import { cachedUntilChanged } from '../discovery/cached-list.ts';
import { stateOf } from '../series/series-read.ts';
import { answerParams, fredEndpoint, fredReply, type FredDocument } from './answer.ts';
import { numberParam, requireFredSeries, requireNumbered, seriesIdParam } from './find-series.ts';
import { realtimeOf } from './real-time.ts';
import { seriesListParams, seriesListReply, seriesListSchema } from './series-lists.ts';

interface Category {
  id: string;
  /** The last part of its path. */
  name: string;
  /** '' for the root. */
  path: string;
  /** The path of the parent category. */
  above: string;
}

function categoryOf(path: string): Category {
  const slash = path.lastIndexOf('/');
  const name = path.slice(slash + 1);
  return {
    id: nameId(path),
    name: name === '' ? path : name,
    path,
    above: path.slice(0, Math.max(0, slash)),
  };
}

const root: Category = { id: '', name: 'Categories', path: '', above: '' };

/** Every category of a series, and its ancestors, by path; not the root. */
function treeOf(paths: readonly string[]): Category[] {
  const all = new Map<string, Category>();
  for (const path of paths) {
    let next = path;
    while (next !== '' && !all.has(next)) {
      const category = categoryOf(next);
      all.set(next, category);
      next = category.above;
    }
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const cachedCategories = cachedUntilChanged(catalogList.datasets, async ({ database }) => ({
  value: treeOf(await listCategories(database)),
  untilMs: Infinity,
}));

/** 0 is the root. @throws Failure `not_found`, `conflict`. */
const requireCategory = (categories: readonly Category[], number: number): Category =>
  number === 0 ? root : requireNumbered(categories, number, 'category');

const categorySchema = z
  .object({ id: z.int(), name: z.string(), parent_id: z.int().describe('0: the root, whose own it is too.') })
  .meta({ id: 'FredCategory' });
const someCategories = z.object({ categories: z.array(categorySchema) });

const numberOf = (path: string): number => (path === '' ? 0 : numberOfNameId(nameId(path)));

const documentOf = (categories: readonly Category[]): FredDocument => ({
  head: {},
  root: 'categories',
  item: 'category',
  rows: categories.map(({ path, name, above }) => ({ id: numberOf(path), name, parent_id: numberOf(above) })),
});

const categoryParams = {
  category_id: numberParam('category')
    .default(0)
    .meta({ description: 'The id of a category; 0 is the root.', override: { default: 0 } }),
  ...answerParams,
};

/** @param shown selects the categories of the answer, from all and the requested one. */
const categoriesEndpoint = (
  summary: string,
  shown: (categories: readonly Category[], asked: Category) => readonly Category[],
) =>
  fredEndpoint({
    summary,
    query: categoryParams,
    json: someCategories,
    errors: ['not_found', 'conflict'],
    handler: async (dependencies, { query, call }) => {
      realtimeOf(query, dependencies, call);
      const cached = await call.stage('lookup', () => cachedCategories(dependencies));
      const asked = requireCategory(cached.value, query.category_id);
      return fredReply(query.file_type, {
        identity: [summary, query, cached.version],
        lastModified: cached.changedAt,
        read: () => documentOf(shown(cached.value, asked)),
      });
    },
  });

export const getFredCategory = categoriesEndpoint('A category, in the form of FRED.', (_all, asked) => [
  asked,
]);

export const getFredCategoryChildren = categoriesEndpoint(
  'The categories below one, by name, in the form of FRED.',
  (all, { path }) => all.filter(({ above }) => above === path),
);

export const getFredCategorySeries = fredEndpoint({
  summary: 'The series of a category, without those of the categories below it, in the form of FRED.',
  query: { category_id: numberParam('category'), ...seriesListParams },
  json: seriesListSchema,
  errors: ['not_found', 'conflict'],
  handler: async (dependencies, { query, call }) => {
    const cached = await call.stage('lookup', () => cachedCategories(dependencies));
    const { path } = requireCategory(cached.value, query.category_id);
    const where = catalogWhere({});
    if (path === '') where.sql.push('category is null');
    else where.and(path, (p) => `category = ${p}`);
    return seriesListReply(dependencies, call, { name: 'fred category series', query, where });
  },
});

export const getFredSeriesCategories = fredEndpoint({
  summary: 'The category of a series, in the form of FRED.',
  query: { series_id: seriesIdParam, ...answerParams },
  json: someCategories,
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { query, call }) => {
    realtimeOf(query, dependencies, call);
    const { series } = await call.stage('lookup', () =>
      requireFredSeries(dependencies, call, query.series_id),
    );
    return fredReply(query.file_type, {
      identity: ['fred series categories', query, ...stateOf(series)],
      lastModified: series.changedAt,
      read: () => documentOf([series.category === null ? root : categoryOf(series.category)]),
    });
  },
});
