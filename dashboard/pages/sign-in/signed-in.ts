// The last step of every sign-in: stores the session in this tab, and the token that makes this device known.
import { accountApi } from '../../api/clients.ts';
import { beginSession } from '../../api/session.ts';

// The token grants no access: it only keeps sign-ins from this device from being delayed by strangers' failed attempts.
const deviceStoredAs = 'almanac.device';

interface SignedIn {
  session_token: string;
  expires_at: string;
  device_token?: string;
}

export function storeSignIn({
  session_token: token,
  expires_at: expiresAt,
  device_token: device,
}: SignedIn): void {
  if (device !== undefined) storeDevice(device);
  beginSession({ token, expiresAt });
}

export function storeDevice(token: string): void {
  localStorage.setItem(deviceStoredAs, token);
}

/** The answer to the first step of a sign-in: it has signed in, or a code is needed. */
type FirstStep = SignedIn | { sign_in_token: string };

/** Stores the session of a first step. @returns undefined; or the token for the second step, if the account requires one. */
export function storeFirstStep(answer: FirstStep): string | undefined {
  if ('sign_in_token' in answer) return answer.sign_in_token;
  storeSignIn(answer);
  return undefined;
}

/** @returns as `storeFirstStep`. */
export async function signIn(email: string, password: string): Promise<string | undefined> {
  const device_token = localStorage.getItem(deviceStoredAs) ?? undefined;
  const body = { email, password, ...(device_token === undefined ? {} : { device_token }) };
  const { data } = await accountApi.post('/auth/login', { body });
  return storeFirstStep(data);
}
