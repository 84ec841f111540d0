// Creates webhook secrets, encrypts them at rest, and signs with them (Standard Webhooks, v1). The secrets of authenticator apps are encrypted in the
// same way: AES-256-GCM, bound to the owner of the secret, with a key derived from a secret of the installation.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { entryAt } from '../kernel/entries.ts';

const prefix = 'whsec_';
const secretBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

export interface Secrets {
  /** Creates the secret of an endpoint: its value, to be shown once, and its encrypted form, to be stored. */
  mint(webhookId: string): { value: string; sealed: string };
  /** Encrypts a secret. @param of its owner; it can be decrypted only for the same owner. */
  seal(of: string, secret: Buffer): string;
  /** Decrypts a secret. @throws SecretUnreadable if its key is no longer known. */
  open(of: string, sealed: string): Buffer;
  /** Whether the key that encrypted a secret is known. */
  knows(sealed: string): boolean;
  /** Re-encrypts a secret with the current key. @throws SecretUnreadable */
  renew(of: string, sealed: string): string;
  /** The id of the current key, which is the beginning of every encrypted secret. */
  readonly keyId: string;
  /** The ids of all known keys. */
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

/** @param keys the secrets that the keys are derived from: the first encrypts, all decrypt. At least one. */
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
