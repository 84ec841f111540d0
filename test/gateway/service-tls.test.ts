// TLS between the gateway and the services, each a separate process, as in a cluster.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from 'node:tls';
import test from 'ava';
import { projectRoot } from '../../kernel/project.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { exempt } from '../openapi/check-answers.ts';
import { endChildren, startServing, type ServingChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createAuthority } from '../services/certificates.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { createTestDatabase } from '../services/harness.ts';

const authority = createAuthority();
const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const database = await createTestDatabase();
const settings = settingsOf(database.url);
const almanac = commandLine(settings);
test.after.always(async () => {
  await endChildren();
  await database.drop();
  authority.remove();
  rmSync(directory, { recursive: true });
});

const files = {
  SERVICE_TLS_CERT_FILE: path.join(directory, 'cert'),
  SERVICE_TLS_KEY_FILE: path.join(directory, 'key'),
};
function useNewCertificate(): void {
  const { cert, key } = authority.issue();
  writeFileSync(files.SERVICE_TLS_CERT_FILE, cert);
  writeFileSync(files.SERVICE_TLS_KEY_FILE, key);
}

function startService(name: string): Promise<ServingChild> {
  const words = [path.join(projectRoot, 'almanac.js'), 'start', name];
  const env = { ...process.env, ...settings, ...files, DATA_API_PORT: '0', ACCOUNTS_API_PORT: '0' };
  return startServing(new RegExp(`${name} is running: (\\S+)`), process.execPath, words, { name, env });
}

/** The certificate that the server presents. */
function fingerprintOf(url: string): Promise<string> {
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    // The gateway checks whether it is trusted.
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256 ?? '');
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

let [dataApi, accountsApi]: ServingChild[] = [];
const urls = { DATA_API_URL: '', ACCOUNTS_API_URL: '' };
test.before(async () => {
  useNewCertificate();
  [dataApi, accountsApi] = await Promise.all([startService('data-api'), startService('accounts-api')]);
  Object.assign(urls, { DATA_API_URL: dataApi.ready[1], ACCOUNTS_API_URL: accountsApi.ready[1] });
});

test.serial(
  'reads and writes reach services with TLS, and a renewed certificate is used without a restart',
  async (t) => {
    t.regex(Object.values(urls).join(' '), /^https:\S+ https:\S+$/);
    const gateway = await startGatewayProcess({ ...urls, NODE_EXTRA_CA_CERTS: authority.caFile });
    const made = await almanac(['accounts', 'create', 'tls@example.org', '--plan', 'pro']);
    t.is(made.code, 0, made.stderr);
    const { key } = JSON.parse((await almanac(['keys', 'create', 'tls@example.org', '--json'])).stdout) as {
      key: string;
    };
    await almanac(
      [
        'ingest',
        'observations',
        '-',
        '--create',
        '--set',
        'series_id=TLS,frequency=daily,unit=One,source=Tests',
      ],
      {
        stdin: 'date,value\n2024-01-01,1\n',
      },
    );
    const read = async () =>
      (await fetch(`${gateway.url}/v1/series/TLS`, { headers: { 'x-api-key': key } })).status;
    const write = async () => {
      const body = JSON.stringify({ name: 'another' });
      const headers = { 'x-api-key': key, 'content-type': 'application/json' };
      const response = await fetch(`${gateway.url}/v1/keys`, { method: 'POST', headers, body });
      const { data } = (await response.json()) as { data: { id: string } };
      await fetch(`${gateway.url}/v1/keys/${data.id}`, { method: 'DELETE', headers });
      return response.status;
    };
    await until('it is ready', async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    t.deepEqual([await read(), await write()], [200, 201]);

    const before = await fingerprintOf(urls.DATA_API_URL);
    useNewCertificate();
    for (const service of [dataApi, accountsApi]) service?.process.kill('SIGHUP');
    for (const url of Object.values(urls))
      await until('the new certificate is presented', async () => (await fingerprintOf(url)) !== before);
    t.deepEqual([await read(), await write()], [200, 201]);

    writeFileSync(files.SERVICE_TLS_KEY_FILE, 'no key');
    const current = await fingerprintOf(urls.DATA_API_URL);
    dataApi?.process.kill('SIGHUP');
    await until('the fault is logged', () =>
      /SERVICE_TLS_KEY must be a private key/.test(dataApi?.output() ?? ''),
    );
    t.is(await fingerprintOf(urls.DATA_API_URL), current);
  },
);

test.serial(
  'a gateway that does not trust the authority sends no call, and a service with TLS accepts no plain call',
  async (t) => {
    const gateway = await startGatewayProcess(urls);
    const ready = await fetch(`${gateway.url}/readyz`);
    t.is(ready.status, 503);
    t.is((await fetch(`${gateway.url}/v1/status`)).status, 502);
    const plain = urls.DATA_API_URL.replace('https:', 'http:');
    exempt(plain);
    await t.throwsAsync(fetch(`${plain}/healthz`));
  },
);
