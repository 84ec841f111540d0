// Secrets among the settings: reads them from files (NAME_FILE), inserts passwords into their URLs, and checks certificates. An error never shows a
// value, or a path, which may be a secret set under the wrong name.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

type Given = Readonly<Record<string, string>>;

/**
 * Adds the secrets given as files: the content of the file at NAME_FILE, without its last line end, becomes NAME.
 * @param absolute makes a path absolute.
 */
export function readSecretFiles(
  set: Given,
  names: readonly string[],
  absolute: (file: string) => string,
): { given: Given; faults: string[] } {
  const given: Record<string, string> = { ...set };
  const faults: string[] = [];
  for (const name of names) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) {
      faults.push(`${name}_FILE and ${name} must not both be set`);
      continue;
    }
    try {
      const content = readFileSync(absolute(file), 'utf8').replace(/\r?\n$/, '');
      if (content === '') faults.push(`${name}_FILE must name a file that is not empty`);
      else given[name] = content;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      faults.push(`${name}_FILE must name a file that can be read (${code})`);
    }
  }
  return { given, faults };
}

/** Inserts each password into its URLs, percent-encoded. A password without a URL, or for a URL that already has one, is a fault. */
export function withPasswords(
  given: Given,
  passwords: readonly { password: string; urls: readonly string[] }[],
): { complete: Given; faults: string[] } {
  const complete: Record<string, string> = { ...given };
  const faults: string[] = [];
  for (const { password, urls } of passwords) {
    const secret = given[password];
    if (secret === undefined) continue;
    const named = urls.filter((name) => given[name] !== undefined);
    if (named.length === 0) faults.push(`${password} must be set together with ${urls[0]}`);
    for (const name of named) {
      const url = withPassword(given[name] ?? '', secret);
      if (url === undefined)
        faults.push(`${name} must name a host, and no password, if ${password} is given`);
      else complete[name] = url;
    }
  }
  return { complete, faults };
}

// The class URL cannot parse the hosts of a cluster.
const beforePath = /^([a-z][a-z+]*:\/\/)(?:([^/?#]*)@)?([^/?#@]+)(.*)$/;

function withPassword(url: string, password: string): string | undefined {
  const [, scheme, user = '', hosts, rest = ''] = beforePath.exec(url) ?? [];
  if (scheme === undefined || user.includes(':')) return undefined;
  return `${scheme}${user}:${encodeURIComponent(password)}@${hosts}${rest}`;
}

/** The faults of a PEM certificate and its key. */
export function certificateFaults({
  cert,
  key,
}: Partial<Record<'cert' | 'key', string | undefined>>): string[] {
  if (cert === undefined && key === undefined) return [];
  if (cert === undefined || key === undefined)
    return ['SERVICE_TLS_CERT and SERVICE_TLS_KEY must both be set, or neither'];
  const certificate = parsedPem(() => new X509Certificate(cert));
  const privateKey = parsedPem(() => createPrivateKey(key));
  const faults: string[] = [];
  if (certificate === null) faults.push('SERVICE_TLS_CERT must be a certificate, as PEM');
  if (privateKey === null) faults.push('SERVICE_TLS_KEY must be a private key without a passphrase, as PEM');
  if (certificate !== null && privateKey !== null && !certificate.checkPrivateKey(privateKey))
    faults.push('SERVICE_TLS_KEY must be the private key of SERVICE_TLS_CERT');
  return faults;
}

/** Null if it cannot be parsed: OpenSSL's errors would show parts of it. */
function parsedPem<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch {
    return null;
  }
}
