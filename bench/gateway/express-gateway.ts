// Stock express-gateway 1.16.11 with its own key-auth, rate-limit and proxy, installed unchanged into a folder of its own. Its key store calls
// crypto.createCipher, which Node has removed; only that function is restored.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../test/services/instance.ts';
import { startOn, targetCore } from './processes.ts';

const server = `
const crypto = require('node:crypto');
function withKeyFromPassword(create) {
  return (algorithm, password) => {
    let bytes = Buffer.alloc(0);
    for (let last = Buffer.alloc(0); bytes.length < 48; bytes = Buffer.concat([bytes, last])) {
      last = crypto.createHash('md5').update(last).update(password).digest();
    }
    return create('aes-256-cbc', bytes.subarray(0, 32), bytes.subarray(32, 48));
  };
}
crypto.createCipher = withKeyFromPassword(crypto.createCipheriv);
crypto.createDecipher = withKeyFromPassword(crypto.createDecipheriv);
const path = require('node:path');
const gateway = require('express-gateway');
(async () => {
  await gateway().load(path.join(__dirname, 'config')).run();
  const services = require('express-gateway/lib/services');
  const user = await services.user.insert({ username: 'bench' + Date.now(), firstname: 'a', lastname: 'b' });
  const credential = await services.credential.insertCredential(user.id, 'key-auth', {});
  console.log('KEY ' + credential.keyId + ':' + credential.keySecret + ' END');
})();
`;

/** Installs it if it is missing. @returns false if the installation fails or takes longer than a minute. */
export async function install(directory: string): Promise<boolean> {
  if (existsSync(path.join(directory, 'node_modules/express-gateway'))) return true;
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'package.json'), '{"private":true}');
  const words = ['express-gateway@1.16.11', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const child = spawn('npm', ['install', ...words], { cwd: directory, stdio: 'inherit', timeout: 60_000 });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

export async function startStock(
  directory: string,
  options: { upstreamUrl: string; redisPort: number },
): Promise<{ url: string; key: string; pid: number; stop(): Promise<void> }> {
  const port = await freePort();
  const config = path.join(directory, 'config');
  const stockModels = path.join(directory, 'node_modules/express-gateway/lib/config/models');
  cpSync(stockModels, path.join(config, 'models'), { recursive: true });
  writeFileSync(
    path.join(config, 'system.config.yml'),
    JSON.stringify({
      db: { redis: { host: '127.0.0.1', port: options.redisPort, namespace: 'EG' } },
      crypto: { cipherKey: 'sensitiveKey', algorithm: 'aes256', saltRounds: 10 },
      session: { secret: 'bench', resave: false, saveUninitialized: false },
      accessTokens: { timeToExpiry: 7_200_000 },
      refreshTokens: { timeToExpiry: 7_200_000 },
      authorizationCodes: { timeToExpiry: 300_000 },
    }),
  );
  writeFileSync(
    path.join(config, 'gateway.config.yml'),
    JSON.stringify({
      http: { port, hostname: '127.0.0.1' },
      apiEndpoints: { api: { host: '*', paths: '/v1/*' } },
      serviceEndpoints: { service: { url: options.upstreamUrl } },
      policies: ['key-auth', 'rate-limit', 'proxy'],
      pipelines: {
        data: {
          apiEndpoints: ['api'],
          policies: [
            { 'key-auth': null },
            { 'rate-limit': { action: { max: 1_000_000_000, windowMs: 1000, delayAfter: 0, delayMs: 0 } } },
            { proxy: { action: { serviceEndpoint: 'service', changeOrigin: true } } },
          ],
        },
      },
    }),
  );
  const file = path.join(directory, 'server.js');
  writeFileSync(file, server);
  const env = { NODE_ENV: 'production', LOG_LEVEL: 'error', EG_DISABLE_CONFIG_WATCH: '1' };
  const where = { core: targetCore, outputFile: path.join(directory, 'output'), env };
  const program = await startOn(where, [process.execPath, file], /KEY (\S+) END/);
  return { url: `http://127.0.0.1:${port}`, key: program.readyOutput, pid: program.pid, stop: program.stop };
}
