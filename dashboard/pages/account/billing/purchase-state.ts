// The logic of the return page of a purchase, without its rendering: the token leaves the URL at once, the query is ignored, the state is polled
// until it is decided, and the key is claimed only on request.
import type { AnswerOf, Client } from '../../../../clients/typescript/client.ts';
import { AlmanacError } from '../../../../clients/typescript/errors.ts';

/** The state from the API; `open`: not paid yet, or not known here yet. */
type State = AnswerOf<'post', '/v1/checkout/state'>['data']['state'];

export type PurchaseView =
  | { is: State }
  /** There is no token: the purchase was cancelled, or none began here. */
  | { is: 'cancelled' | 'none' }
  | { is: 'shown'; secret: string; email: string };

/** The browser functions that it needs. */
export interface PurchaseBrowser {
  location: { readonly hash: string; readonly pathname: string };
  history: { replaceState(state: null, title: string, to: string): void };
  storage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
    removeItem(name: string): void;
  };
  client: Client;
  /** Schedules a call. @returns a function that cancels it. */
  later: (act: () => void, ms: number) => () => void;
}

export interface Purchase {
  /** Claims the key, once. @throws AlmanacError if the API cannot answer now; every other failure shows in the view. */
  claim(): Promise<void>;
  leave(): void;
}

const storedAs = 'almanac.claim';
const pollWait = { firstMs: 500, lastMs: 5_000, growth: 1.5 };

/** @param show receives each view, the first at once. */
export function openPurchase(browser: PurchaseBrowser, show: (view: PurchaseView) => void): Purchase {
  const { client, storage } = browser;
  const { token, isCancelled } = popToken(browser);
  const leaving = new AbortController();
  let cancelPoll = (): void => undefined;

  function decided(view: PurchaseView): void {
    storage.removeItem(storedAs);
    show(view);
  }
  async function poll(of: string, waitMs: number): Promise<void> {
    const is = await stateOf(client, of, leaving.signal);
    if (leaving.signal.aborted) return;
    if (is === 'key') return show({ is });
    if (is !== 'open') return decided({ is });
    show({ is });
    cancelPoll = browser.later(
      () => void poll(of, Math.min(pollWait.lastMs, waitMs * pollWait.growth)),
      waitMs,
    );
  }
  async function claim(): Promise<void> {
    if (token === null) return;
    try {
      const { data } = await client.get('/v1/account/key/{token}', { path: { token } });
      decided({ is: 'shown', secret: data.key, email: data.account.email });
    } catch (error) {
      if (!(error instanceof AlmanacError) || error.status === 429 || error.status >= 500) throw error;
      await poll(token, pollWait.firstMs); // refused, or the answer may have been lost: the state shows which
    }
  }
  if (token !== null) {
    show({ is: 'open' });
    void poll(token, pollWait.firstMs);
  } else show({ is: isCancelled ? 'cancelled' : 'none' });
  return {
    claim,
    leave() {
      leaving.abort();
      cancelPoll();
    },
  };
}

/** The token of the URL, else of an earlier visit in this tab: the page may be reloaded while it waits. */
function popToken({ location, history, storage }: PurchaseBrowser): {
  token: string | null;
  isCancelled: boolean;
} {
  const { hash, pathname } = location;
  history.replaceState(null, '', pathname);
  const given = /^#claim=([A-Za-z0-9_-]{43})$/.exec(hash)?.[1];
  if (given !== undefined) storage.setItem(storedAs, given);
  const isCancelled = hash === '#cancelled';
  return { token: isCancelled ? null : storage.getItem(storedAs), isCancelled };
}

/** Without an answer the state counts as open, and is polled again. */
async function stateOf(client: Client, token: string, signal: AbortSignal): Promise<State> {
  try {
    return (await client.post('/v1/checkout/state', { body: { token }, signal })).data.state;
  } catch (error) {
    return error instanceof AlmanacError && error.status === 404 ? 'expired' : 'open';
  }
}
