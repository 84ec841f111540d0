// What has become of a purchase, by its token: asked again and again while it is open. Hides the waits between the questions, and that a
// question without an answer is asked again.
import { useEffect, useState } from 'preact/hooks';
import { AlmanacError } from '../../../../clients/typescript/errors.ts';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { api } from '../../../api/clients.ts';

export type PurchaseState = AnswerOf<'post', '/v1/checkout/state'>['data']['state'];

const waits = { firstMs: 500, lastMs: 5_000, growth: 1.5 };

/** Null unless it has the form of a token. */
export function tokenIn(fragment: URLSearchParams): string | null {
  const claim = fragment.get('claim') ?? '';
  return /^[A-Za-z0-9_-]{43}$/.test(claim) ? claim : null;
}

async function stateOf(token: string, signal: AbortSignal): Promise<PurchaseState> {
  try {
    const { data } = await api.post('/v1/checkout/state', { body: { token }, signal });
    return data.state;
  } catch (error) {
    if (error instanceof AlmanacError && error.status === 404) return 'expired';
    if (error instanceof AlmanacError) return 'open';
    throw error;
  }
}

export function usePurchase(token: string): { state: PurchaseState; lookAgain: () => void } {
  const [state, setState] = useState<PurchaseState>('open');
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look(waitMs: number): Promise<void> {
      const found = await stateOf(token, leaving.signal);
      setState(found);
      if (found === 'open') {
        const next = Math.min(waits.lastMs, waitMs * waits.growth);
        timer = setTimeout(() => void look(next).catch(fault), waitMs);
      }
    }
    function fault(error: unknown): void {
      if (!leaving.signal.aborted) console.error(error);
    }
    look(waits.firstMs).catch(fault);
    return () => {
      leaving.abort(new DOMException('The page was left.', 'AbortError'));
      clearTimeout(timer);
    };
  }, [token, looks]);
  return { state, lookAgain: () => setLooks((count) => count + 1) };
}
