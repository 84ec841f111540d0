// /dashboard/webhooks: the endpoints, and the log of their deliveries. Filters, the chosen delivery and dialogs are in the URL.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { Empty, Waiting } from '../../../components/states.tsx';
import { useQuery } from '../../../components/use-query.ts';
import { accountPage } from '../account-page.tsx';
import type { Delivery, Webhook } from './webhook-answers.ts';
import { Deliveries } from './deliveries.tsx';
import { Endpoints } from './endpoints.tsx';
import { NewEndpoint } from './new-endpoint.tsx';

const endpointsMax = 10;

interface Found {
  webhooks: Webhook[];
  /** The last deliveries of each endpoint, newest first, by its id. */
  deliveries: ReadonlyMap<string, readonly Delivery[]>;
  mayCreate: boolean;
}

export const Webhooks = accountPage(({ account }) => {
  const [query, show] = useQuery();
  const [changes, setChanges] = useState(0);
  const loaded = useLoad((signal) => webhooksOf(account.plan, signal), [account.plan]);
  // No further request while the list is being reloaded.
  const [deleted, setDeleted] = useState<readonly string[]>([]);
  const reload = () => {
    loaded.reload();
    setChanges((count) => count + 1);
  };
  const forget = (id: string) => {
    setDeleted([...deleted, id]);
    show({ manage: null, endpoint: null, delivery: null });
    reload();
  };
  return (
    <>
      <PageHead
        title="Webhooks"
        lede="Your server is called when data arrives, is revised, or your account changes. Calls are signed as Standard Webhooks specifies, and delivered at least once."
      />
      <Waiting for={loaded} failure="The webhooks could not be loaded">
        {(loadedOnce) => {
          const found = {
            ...loadedOnce,
            webhooks: loadedOnce.webhooks.filter(({ id }) => !deleted.includes(id)),
          };
          return (
            <>
              {found.webhooks.length === 0 ? (
                <NoEndpoints mayCreate={found.mayCreate} create={() => show({ create: 'endpoint' })} />
              ) : (
                <>
                  <Endpoints {...found} max={endpointsMax} {...{ show, reload, forget, query }} />
                  <Deliveries
                    webhooks={found.webhooks}
                    query={query}
                    show={show}
                    changes={changes}
                    reload={reload}
                  />
                </>
              )}
              {query.get('create') === 'endpoint' && found.mayCreate && (
                <NewEndpoint onMade={reload} onClose={() => show({ create: undefined })} />
              )}
            </>
          );
        }}
      </Waiting>
    </>
  );
});

/** Loads as many deliveries of each endpoint as its row shows. */
async function webhooksOf(planId: string, signal: AbortSignal): Promise<Found> {
  const [answer, plans] = await Promise.all([
    accountApi.get('/v1/webhooks', { query: { limit: 1000 }, signal }),
    api.get('/v1/plans', { query: { limit: 1000 }, signal }),
  ]);
  const webhooks = rowsOf(answer);
  const lists = webhooks.map(async ({ id }) => {
    const list = await accountApi.get('/v1/webhooks/{id}/deliveries', {
      path: { id },
      query: { limit: 36 },
      signal,
    });
    return [id, rowsOf(list)] as const;
  });
  const plan = rowsOf(plans).find(({ id }) => id === planId);
  return {
    webhooks,
    deliveries: new Map(await Promise.all(lists)),
    mayCreate: plan?.features.includes('webhooks') ?? false,
  };
}

function NoEndpoints({ mayCreate, create }: { mayCreate: boolean; create: () => void }) {
  if (!mayCreate) {
    return (
      <Empty title="Webhooks come with a higher plan">
        <p>
          Your server is called seconds after a series is updated or revised, and when something happens to
          the account. No polling, no calls used.
        </p>
        <div class="actions">
          <Link class="btn main" href="/dashboard/billing">
            See the plans
          </Link>
          <Link class="btn plain" href="/docs/webhooks">
            How they work
          </Link>
        </div>
      </Empty>
    );
  }
  return (
    <Empty title="No webhooks yet">
      <p>
        Give us an address and we call it when a series is updated or revised, seconds after the release. No
        polling, no calls used.
      </p>
      <div class="actions">
        <button class="btn main" type="button" onClick={create}>
          Add an endpoint
        </button>
        <Link class="btn plain" href="/docs/events">
          See the events
        </Link>
      </div>
    </Empty>
  );
}
