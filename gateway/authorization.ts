// Parses API keys from an Authorization header.
import { looksLikeApiKey } from '../kernel/credentials/api-key.ts';

/**
 * The key of `Bearer <key>`. For `Basic`, what begins like a key: the user name, the password, or both if they differ.
 * @returns an empty list for other schemes and for Basic without a key: those credentials are for another server, such as a proxy.
 */
export function keysInAuthorization(value: string): readonly string[] {
  const bearer = /^bearer +(\S+)$/i.exec(value)?.[1];
  if (bearer !== undefined) return [bearer];
  const basic = /^basic +([\w+/-]+=*)$/i.exec(value)?.[1];
  if (basic === undefined) return [];
  const [, user = '', password = ''] =
    /^([^:]*):?([^]*)$/.exec(Buffer.from(basic, 'base64').toString()) ?? [];
  return [...new Set([user.trim(), password.trim()])].filter(looksLikeApiKey);
}
