// The secrets that an installation makes for itself, each in a file. An empty file is never taken for a secret.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Reads the secret, or makes one of so many random bytes if there is no file.
 * @throws Error that names the file if it is empty.
 */
export function readOrMakeSecret(file: string, bytes: number): string {
  if (!existsSync(file)) makeSecret(file, bytes);
  const secret = readFileSync(file, 'utf8').trim();
  if (secret === '')
    throw new Error(
      `${file} is empty, and must have a secret of this installation. Restore it from a copy; delete it only if nothing was stored yet.`,
    );
  return secret;
}

function makeSecret(file: string, bytes: number): void {
  try {
    writeFileSync(file, randomBytes(bytes).toString('base64url'), { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return; // another process was first
    rmSync(file, { force: true }); // a full disk has left it empty
    throw error;
  }
}
