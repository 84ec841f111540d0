// The clients with which the dashboard calls the API: without a credential, and as the signed-in user.
import { createClient } from '../../clients/typescript/client.ts';
import { AlmanacError } from '../../clients/typescript/errors.ts';
import { forgetSession, session } from './session.ts';

// A page reports errors at once, and offers to try again.
const retry = { retries: 0 };

/** For public endpoints. */
export const api = createClient({ retry });

/** For endpoints of the account and of sign-in. A session that the API rejects is deleted, so that the page asks to sign in. */
export const accountApi = createClient({
  retry,
  session: () => session.value?.token,
  async fetch(...call) {
    const sentSession = session.value;
    const response = await globalThis.fetch(...call);
    if (response.status === 401 && sentSession !== undefined && sentSession === session.value) {
      const { code } = await errorIn(response.clone());
      if (code === 'unauthorized') forgetSession();
    }
    return response;
  },
});

async function errorIn(response: Response): Promise<{ code: unknown }> {
  const body: unknown = await response.json().catch(() => undefined);
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  return { code: typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined };
}

/** The error of a call, for pages that show it; any other error is a fault of the dashboard itself. */
export function asAlmanacError(thrown: unknown): AlmanacError {
  if (thrown instanceof AlmanacError) return thrown;
  return localError('dashboard_fault', thrown instanceof Error ? thrown.message : String(thrown), thrown);
}

/** An error that the API did not answer, in the form of its errors. */
export function localError(code: string, message: string, cause?: unknown): AlmanacError {
  const unknown = {
    param: undefined,
    docsUrl: undefined,
    requestId: undefined,
    retryAfterSeconds: undefined,
  };
  return new AlmanacError({ ...unknown, status: 0, code, message }, { cause });
}
