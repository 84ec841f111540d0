// The session of the signed-in user, stored in sessionStorage: it ends with the last tab, and no URL or cookie contains it. Tabs of the
// dashboard share it: a new tab is signed in, and signing out in one signs out all.
import { computed, signal } from '@preact/signals';

export interface Session {
  token: string;
  /** ISO 8601. */
  expiresAt: string;
}

/** A message from a tab to all others of its origin. */
type TabMessage =
  | { kind: 'who' }
  | { kind: 'signed-in'; session: unknown }
  | { kind: 'signed-out'; token: string; byUser: boolean };

const storedAs = 'almanac.session';
const current = signal<Session | undefined>(stored());
const tabs = new BroadcastChannel(storedAs);
const replyTimeoutMs = 150;
let isSigningOut = false;

/** Undefined if nobody is signed in. */
export const session = computed(() => current.value);

/** Resolves when another tab has sent its session, or after a timeout; at once in a tab that has a session. */
export const tabsSynced: Promise<void> = askTabs();

/** Stores the session from a sign-in response. */
export function beginSession(newSession: Session): void {
  store(newSession);
  broadcast({ kind: 'signed-in', session: newSession });
}

/** Deletes the session in all tabs after the API has ended it. Drafts stay, so that the user can continue after signing in again. */
export function forgetSession(): void {
  if (!isSigningOut) forgetInAllTabs(false);
}

/** Signs the user out: deletes the session and everything else that the tabs have stored, such as drafts.
 * @param byApi ends the session by the API. Calls that were sent before it may then be answered 401. If it throws, nothing is deleted.
 */
export async function signOut(byApi: () => Promise<void>): Promise<void> {
  isSigningOut = true;
  try {
    await byApi();
    forgetInAllTabs(true);
  } finally {
    isSigningOut = false;
  }
}

function forgetInAllTabs(byUser: boolean): void {
  const ended = current.value;
  forget(byUser);
  if (ended !== undefined) broadcast({ kind: 'signed-out', token: ended.token, byUser });
}

function askTabs(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  tabs.addEventListener('message', (event: MessageEvent) => {
    const data = event.data as TabMessage;
    if (data.kind === 'who' && current.value !== undefined)
      broadcast({ kind: 'signed-in', session: current.value });
    // A tab without a session may have just lost it to a 401.
    if (data.kind === 'signed-out' && (current.value?.token ?? data.token) === data.token)
      forget(data.byUser);
    if (data.kind !== 'signed-in') return;
    const given = validSession(data.session);
    if (given !== undefined && current.value === undefined) store(given);
    resolve();
  });
  if (current.value !== undefined) return Promise.resolve();
  broadcast({ kind: 'who' });
  setTimeout(resolve, replyTimeoutMs);
  return promise;
}

function broadcast(message: TabMessage): void {
  // oxlint-disable-next-line require-post-message-target-origin -- a BroadcastChannel has one origin
  tabs.postMessage(message);
}

function store(newSession: Session): void {
  sessionStorage.setItem(storedAs, JSON.stringify(newSession));
  current.value = newSession;
}

function forget(byUser: boolean): void {
  if (byUser) sessionStorage.clear();
  else sessionStorage.removeItem(storedAs);
  current.value = undefined;
}

function stored(): Session | undefined {
  const text = sessionStorage.getItem(storedAs);
  return text === null ? undefined : validSession(JSON.parse(text));
}

/** @returns undefined if the value is not a session, or has expired. */
function validSession(value: unknown): Session | undefined {
  if (typeof value !== 'object' || value === null || !('token' in value) || !('expiresAt' in value)) {
    return undefined;
  }
  const { token, expiresAt } = value;
  if (typeof token !== 'string' || typeof expiresAt !== 'string') return undefined;
  return Date.parse(expiresAt) > Date.now() ? { token, expiresAt } : undefined;
}
