// Certificates for 127.0.0.1 by a test authority. Uses openssl, as Node cannot create certificates.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Certificate } from '../../kernel/settings/settings.ts';

export interface Authority {
  /** The file with the authority's own certificate. */
  caFile: string;
  /** A new certificate and key each time. */
  issue(): Certificate;
  remove(): void;
}

export function createAuthority(): Authority {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-authority-'));
  const file = (name: string) => path.join(directory, name);
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-noenc'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Tests',
  );
  writeFileSync(file('names'), 'subjectAltName=IP:127.0.0.1\n');
  return {
    caFile: file('ca.pem'),
    issue() {
      openssl('req', ...newKey, '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=service');
      const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
      openssl(
        'x509',
        '-req',
        '-in',
        'own.csr',
        ...authority,
        '-out',
        'own.pem',
        '-days',
        '2',
        '-extfile',
        'names',
      );
      return {
        cert: readFileSync(file('own.pem'), 'utf8').trim(),
        key: readFileSync(file('own.key'), 'utf8').trim(),
      };
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
