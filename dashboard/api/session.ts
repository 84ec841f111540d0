// The session of the signed-in user, kept in sessionStorage: it ends with the tab, and no URL or cookie has it.
import { computed, signal } from '@preact/signals';

export interface Session {
  token: string;
  /** ISO 8601. */
  expiresAt: string;
}

const storedAs = 'almanac.session';
const current = signal<Session | undefined>(stored());

/** Undefined: nobody is signed in. */
export const session = computed(() => current.value);

/** Keeps the session of an answer to sign-in. */
export function beginSession(begun: Session): void {
  sessionStorage.setItem(storedAs, JSON.stringify(begun));
  current.value = begun;
}

/** Forgets the session, here alone: ask `POST /auth/logout` before, unless the API has ended it. */
export function endSession(): void {
  sessionStorage.removeItem(storedAs);
  current.value = undefined;
}

function stored(): Session | undefined {
  const text = sessionStorage.getItem(storedAs);
  if (text === null) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || !('token' in value) || !('expiresAt' in value)) {
    return undefined;
  }
  const { token, expiresAt } = value;
  if (typeof token !== 'string' || typeof expiresAt !== 'string') return undefined;
  return Date.parse(expiresAt) > Date.now() ? { token, expiresAt } : undefined;
}
