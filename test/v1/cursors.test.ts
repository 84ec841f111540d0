// A cursor continues where its own query ended: with any other filter, order or URL it is refused.
import test from 'ava';
import { declaredParameters, endpoints, requestsFor, withParameter } from './endpoint-requests.ts';
import { initialLoads, loadInto } from './every-dataset.ts';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;
test.before(async () => {
  service = await startListService();
  service.clock.set('2024-07-01T12:00:00Z');
  for (const load of initialLoads) await loadInto(service, load);
});
test.after.always(() => service?.close());

interface Page {
  data?: unknown;
  pagination?: { next_cursor: string | null };
  error?: { code: string; param?: string };
}

const ask = async (path: string): Promise<{ status: number; page: Page }> => {
  const { status, json } = await service.call(path);
  return { status, page: json ?? {} };
};

/** Parameters that affect the format of a page but not its rows: a cursor is valid with any of them. */
const shapes = ['limit', 'fields', 'include', 'format', 'facets', 'adjusted', 'count_only'];
/** The `format` of an auction also means its kind of bids. */
const auctionFormats = ['competitive', 'non_competitive'];

test.serial('a cursor continues only its own rows, in pages of any format', async (t) => {
  let [good, refused] = [0, 0];
  for (const endpoint of endpoints) {
    if (endpoint.route === '/v1/updates') continue; // its cursor is a position among all updates, whatever the query
    if (!(await declaredParameters(service, endpoint.path)).includes('cursor')) continue;
    const first = (await ask(withParameter(endpoint.path, 'limit', '1'))).page.pagination?.next_cursor;
    if (typeof first !== 'string') continue; // all rows are on one page
    const plain = new URL(endpoint.path, 'http://host').searchParams;
    const rows = await rowsOf(endpoint.path);
    for (const request of await requestsFor(service, endpoint)) {
      if (request.includes('format=xlsx')) continue; // a workbook has no pages
      if ((await ask(request)).status !== 200) continue; // fails with any cursor
      const { searchParams } = new URL(request, 'http://host');
      const others = [...searchParams.keys()].filter((name) => searchParams.get(name) !== plain.get(name));
      const { status, page } = await ask(withParameter(request, 'cursor', first));
      if (
        others.every(
          (name) => shapes.includes(name) && !auctionFormats.includes(searchParams.get(name) ?? ''),
        )
      ) {
        t.is(status, 200, request);
        good += 1;
      } else if ((await rowsOf(request)) !== rows) {
        const { code, param } = page.error ?? {};
        const isAlone = searchParams.has('last'); // accepts no cursor
        const why = isAlone ? ['invalid_parameter', 'last'] : ['invalid_cursor', 'cursor'];
        t.deepEqual([status, code, param], [400, ...why], request);
        refused += 1;
      }
    }
  }
  t.true(good > 50 && refused > 200, `${good} good, ${refused} refused`);
});

const rowsOf = async (path: string) =>
  JSON.stringify((await ask(withParameter(path, 'limit', '1000'))).page.data);
