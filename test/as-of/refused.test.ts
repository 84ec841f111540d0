// Endpoints that keep no past refuse keys that are pinned to a day, whatever the request.
import test from 'ava';
import { endpoints } from '../../data-api/routes.ts';
import { proAccount, startDataService } from '../services/data-service.ts';

const service = await startDataService();
test.after.always(() => service.close());

const pinned = { ...proAccount, asOf: '2024-03-31' };

test('an endpoint that is not declared as kept refuses a pinned key, and says for which day', async (t) => {
  const refusing = Object.entries(endpoints).filter(([, { isKeptAsOf }]) => !isKeptAsOf);
  t.true(refusing.length > 0);
  for (const [route, { method }] of refusing) {
    const body = method === 'POST' ? { body: '{}', headers: { 'content-type': 'application/json' } } : {};
    const path = `${route.replaceAll(/:\w+/g, 'CPI')}?file_type=json`;
    const answer = await service.call(path, { method, identity: pinned, ...body });
    t.is(answer.status, 403, route);
    t.is(answer.headers.get('x-as-of'), '2024-03-31', route);
    t.regex(answer.text, /The past of these data is not kept, so a key that is pinned to 2024-03-31/, route);
  }
});
