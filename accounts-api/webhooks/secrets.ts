// The secrets of webhook endpoints: made, encrypted at rest, and used to sign (Standard Webhooks, v1). The secrets of authenticator apps are
// encrypted likewise. Hides the encryption: AES-256-GCM, bound to the owner of the secret, by a key that is derived from a secret of the installation.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { entryAt } from '../../kernel/entries.ts';

const prefix = 'whsec_';
const secretBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

export interface Secrets {
  /** A new secret of an endpoint, to be shown once, and what is stored of it. */
  mint(webhookId: string): { value: string; sealed: string };
  /** What is stored of a secret. @param of whose it is; it can be opened for the same one only. */
  seal(of: string, secret: Buffer): string;
  /** The bytes of a secret. @throws SecretUnreadable if it was sealed by a key that is no longer known. */
  open(of: string, sealed: string): Buffer;
  /** Whether a secret was sealed by a key that is known. */
  knows(sealed: string): boolean;
  /** The same secret, sealed by the present key. @throws SecretUnreadable */
  renew(of: string, sealed: string): string;
  /** The id of the present key, with which every sealed secret begins. */
  readonly keyId: string;
  /** Of all known keys. */
  readonly keyIds: readonly string[];
}

/** A secret that cannot be decrypted. */
export class SecretUnreadable extends Error {
  constructor(of: string) {
    super(
      `The secret of ${of} was encrypted with another WEBHOOK_SECRET_KEY. Set WEBHOOK_SECRET_KEY_PREVIOUS.`,
    );
    this.name = 'SecretUnreadable';
  }
}

/** @param keys what the keys are derived from: the first encrypts, all decrypt. At least one. */
export function createSecrets(keys: readonly string[]): Secrets {
  const known = keys.map(derive);
  const present = entryAt(known, 0);

  function seal(of: string, secret: Buffer): string {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', present.key, iv).setAAD(Buffer.from(of));
    const sealed = Buffer.concat([iv, cipher.update(secret), cipher.final(), cipher.getAuthTag()]);
    return `${present.id}.${sealed.toString('base64')}`;
  }

  const keyOf = (sealed: string) => known.find(({ id }) => id === sealed.split('.')[0])?.key;

  function open(of: string, sealed: string): Buffer {
    const [, text = ''] = sealed.split('.');
    const key = keyOf(sealed);
    if (key === undefined) throw new SecretUnreadable(of);
    const bytes = Buffer.from(text, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes));
    decipher.setAAD(Buffer.from(of)).setAuthTag(bytes.subarray(-tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
  }

  return {
    mint(webhookId) {
      const secret = randomBytes(secretBytes);
      return { value: prefix + secret.toString('base64'), sealed: seal(webhookId, secret) };
    },
    seal,
    open,
    knows: (sealed) => keyOf(sealed) !== undefined,
    renew: (of, sealed) => seal(of, open(of, sealed)),
    keyId: present.id,
    keyIds: known.map(({ id }) => id),
  };
}

function derive(secret: string): { id: string; key: Buffer } {
  const bytes = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', purpose, length));
  return { id: bytes('almanac webhook key id', 4).toString('hex'), key: bytes('almanac webhook key', 32) };
}

/**
 * The header `webhook-signature`: one signature for each secret.
 * @param timestamp seconds since 1970. @param body the bytes that are sent.
 */
export function signatureOf(
  secrets: readonly Buffer[],
  { id, timestamp, body }: { id: string; timestamp: number; body: Buffer },
): string {
  const head = `${id}.${timestamp}.`;
  return secrets
    .map((secret) => `v1,${createHmac('sha256', secret).update(head).update(body).digest('base64')}`)
    .join(' ');
}
