// What every way in comes to: the session is kept in this tab, and the device is known from then on.
import { accountApi } from '../../api/clients.ts';
import { beginSession } from '../../api/session.ts';

// It opens nothing: a sign-in that sends it is not delayed by failed attempts of strangers.
const deviceStoredAs = 'almanac.device';

interface SignedIn {
  session_token: string;
  expires_at: string;
  device_token?: string;
}

export function keepSignIn({
  session_token: token,
  expires_at: expiresAt,
  device_token: device,
}: SignedIn): void {
  if (device !== undefined) keepDevice(device);
  beginSession({ token, expiresAt });
}

export function keepDevice(token: string): void {
  localStorage.setItem(deviceStoredAs, token);
}

export async function signIn(email: string, password: string): Promise<void> {
  const device_token = localStorage.getItem(deviceStoredAs) ?? undefined;
  const body = { email, password, ...(device_token === undefined ? {} : { device_token }) };
  const { data } = await accountApi.post('/auth/login', { body });
  keepSignIn(data);
}
