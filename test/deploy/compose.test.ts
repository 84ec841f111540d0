// docker-compose.yml, read as Compose does with the .env that is documented: its schema, its settings, and how its containers are closed.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { Ajv } from 'ajv';
import test from 'ava';
import { parse } from 'yaml';
import {
  composeText,
  composeWith,
  documentedEnvFile,
  fillSecrets,
  interpolate,
  ofAlmanac,
  readProject as read,
  type ComposeFile,
} from './compose-file.ts';
import { projectRoot } from '../../kernel/project.ts';
import { processNames, settingsOf, type ProcessName } from '../../cli/service-settings.ts';
import { readSettings } from '../../kernel/settings/settings.ts';

const servingNames = ['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'];

test('the file is valid by the Compose specification', (t) => {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars
  const { $schema, ...schema } = JSON.parse(read('test/deploy/compose-spec/compose-spec.json')) as object & {
    $schema: string;
  };
  const validate = new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  const file = composeWith(t);
  t.true(validate(file), JSON.stringify(validate.errors));
  t.false(
    validate({ ...file, services: { a: { imagee: 'b' } } }),
    'the schema refuses what it does not know',
  );
});

test('.env.compose.example has every variable of the file, and no other', (t) => {
  const named = new Set([...composeText.matchAll(/\$\{(\w+)/g)].map((match) => match[1] ?? ''));
  t.deepEqual(Object.keys(parseEnv(read('.env.compose.example'))).sort(), [...named].sort());
});

test('the file is refused without its secrets, and the error says how to create them', (t) => {
  const env = parseEnv(read('.env.compose.example'));
  t.throws(() => interpolate(composeText, env), { message: /: run scripts\/fill-secrets\.sh \.env$/ });
});

test('secrets are made once, differ, and can be read by nobody else; the commands run as the owner of the folder of files', (t) => {
  const file = documentedEnvFile(t);
  const first = readFileSync(file, 'utf8');
  const example = read('.env.compose.example');
  const made = Object.entries(parseEnv(first)).filter(([name, value]) => parseEnv(example)[name] !== value);
  const owner = made.splice(
    made.findIndex(([name]) => name === 'COMMANDS_USER'),
    1,
  )[0]?.[1];
  const { uid, gid } = statSync(path.join(path.dirname(file), 'load'));
  t.is(owner, `${uid}:${gid}`);
  t.not(uid, 0);
  t.is(made.length, 7);
  t.is(new Set(made.map(([, value]) => value)).size, 7);
  for (const [name, value] of made) t.regex(value ?? '', /^[0-9a-f]{64}$/, name);
  t.is(statSync(file).mode & 0o077, 0);
  fillSecrets(file);
  t.is(readFileSync(file, 'utf8'), first);
  writeFileSync(file, 'IDENTITY_SECRET=mine\n# SITE=\nSITE=');
  fillSecrets(file);
  t.is(readFileSync(file, 'utf8'), 'IDENTITY_SECRET=mine\n# SITE=\nSITE=\n');
});

test('folders with blanks in their names are made, in quotes or without, as Compose reads them', (t) => {
  const file = documentedEnvFile(t);
  writeFileSync(file, `LOAD_DIR="./my load"\nBACKUP_DIR='my backups/of it'\n`);
  fillSecrets(file);
  writeFileSync(file, 'LOAD_DIR=./bare load\n');
  fillSecrets(file);
  t.deepEqual(readdirSync(path.dirname(file)).toSorted(), [
    '.env',
    'backups',
    'bare load',
    'load',
    'my backups',
    'my load',
  ]);
});

test('each container gets the settings that its process reads, and no other, and they are right', (t) => {
  const file = composeWith(t);
  const processOf = (name: string): ProcessName =>
    name === 'cli' || name === 'backup'
      ? 'commands'
      : (processNames.find((each) => each === name) ?? t.fail(name));
  t.deepEqual(
    ofAlmanac(file)
      .filter(([name]) => name !== 'backup')
      .map(([name]) => processOf(name))
      .sort(),
    [...processNames].sort(),
  );
  for (const [name, { environment = {}, command }] of ofAlmanac(file)) {
    const { NODE_OPTIONS: _, ...given } = environment;
    const read = settingsOf(processOf(name));
    if (name === 'backup')
      t.deepEqual(
        Object.keys(given).filter((each) => !read.includes(each)),
        [],
      );
    else t.deepEqual(Object.keys(given).sort(), [...read].sort(), name);
    const env = Object.fromEntries(Object.entries(given).map(([key, value]) => [key, String(value)]));
    t.notThrows(() => readSettings(env), name);
    if (!servingNames.includes(name)) continue;
    t.deepEqual(command, ['start', name]);
    t.regex(String(environment['NODE_OPTIONS']), /--max-old-space-size=\d+/, name);
  }
});

test('services reach each other and their database by roles of their own', (t) => {
  const { services } = composeWith(t);
  const settings = (name: string) =>
    readSettings(
      Object.fromEntries(
        Object.entries(services[name]?.environment ?? {}).map(([key, value]) => [key, String(value)]),
      ),
    );
  const userOf = (name: string) => new URL(settings(name).databaseUrl ?? '').username;
  t.is(userOf('data-api'), 'almanac_data_api');
  t.is(userOf('publisher'), 'almanac_publisher');
  for (const name of ['accounts-api', 'worker']) t.is(userOf(name), 'almanac_accounts_api', name);
  for (const name of ['migrate', 'cli', 'backup']) t.is(userOf(name), 'almanac', name);
  t.deepEqual(settings('gateway').dataApiUrls, [`http://data-api:${settings('data-api').dataApiPort}`]);
  t.deepEqual(settings('gateway').accountsApiUrls, [
    `http://accounts-api:${settings('accounts-api').accountsApiPort}`,
  ]);
  t.deepEqual(settings('gateway').publisherUrls, [`http://publisher:${settings('publisher').publisherPort}`]);
  const passwords = Object.values(services).map(({ environment }) => environment?.['REDIS_PASSWORD']);
  t.is(new Set(passwords.filter((password) => password !== undefined)).size, 1);
  t.is(new URL(settings('gateway').redisUrl ?? '').hostname, 'redis');
});

test('no container may write its files, gain rights or run as root', (t) => {
  const { services } = composeWith(t);
  for (const [name, service] of Object.entries(services)) {
    t.true(service.read_only, name);
    t.deepEqual(service.cap_drop, ['ALL'], name);
    t.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    if (name !== 'proxy') t.regex(service.user ?? '', /^[1-9]\d*:[1-9]\d*$/, name); // it listens on port 443
  }
});

test('no container can use all memory or fill the disk with its log', (t) => {
  for (const [name, service] of Object.entries(composeWith(t).services)) {
    t.regex(service.mem_limit ?? '', /^\d+[mg]$/, name);
    const { driver, options } = service.logging ?? {};
    t.is(driver, 'json-file', name);
    t.deepEqual(options, { 'max-size': '10m', 'max-file': '5' }, name);
  }
});

test('files that are read lie on a disk while they are loaded, not in the memory of their container', (t) => {
  for (const name of ['publisher', 'cli']) {
    const { tmpfs, volumes } = composeWith(t).services[name] ?? {};
    t.deepEqual(tmpfs, [], name);
    t.true(volumes?.includes('/tmp'), name);
  }
});

test('commands reach the backups that the schedule makes', (t) => {
  const { cli, backup } = composeWith(t).services;
  t.deepEqual(backup?.command, ['backup', '/backups', '--schedule', 'daily 03:00', '--keep', '7']);
  t.true(cli?.volumes?.includes(backup?.volumes?.[0] ?? 'none'));
  t.is(cli?.user, backup?.user);
});

test('every service has a health check and time to stop, and starts after its dependencies', (t) => {
  const file = composeWith(t);
  for (const [name, service] of Object.entries(file.services)) {
    if (service.restart === 'no' || name === 'cli') continue;
    t.truthy(service.stop_grace_period, name);
    if (name === 'backup') continue; // it ends when a backup fails, and serves nothing
    t.truthy(service.healthcheck?.test.length, name);
  }
  for (const name of ['data-api', 'accounts-api', 'worker', 'publisher', 'cli', 'backup'])
    t.is(file.services[name]?.depends_on?.['migrate']?.condition, 'service_completed_successfully', name);
  t.is(file.services['migrate']?.depends_on?.['postgres']?.condition, 'service_healthy');
  for (const name of ['data-api', 'accounts-api', 'redis'])
    t.is(file.services['gateway']?.depends_on?.[name]?.condition, 'service_healthy', name);
});

test('the image is built locally under its own tag; durable data is in named volumes', (t) => {
  const file = composeWith(t);
  for (const [name, { pull_policy: policy }] of ofAlmanac(file)) t.is(policy, 'build', name);
  for (const [name, { image }] of Object.entries(file.services))
    t.regex(image, /^(?:[a-z]+\/)?[a-z]+:(?:local|v?\d\S*)$/, name);
  const durable = { gateway: 'journal', worker: 'mails', postgres: 'postgres' };
  for (const [name, volume] of Object.entries(durable)) {
    t.true(file.services[name]?.volumes?.[0]?.startsWith(`${volume}:/var/lib/`), name);
    t.true(volume in file.volumes);
  }
});

test('only the gateway, the proxy and, on the machine alone, Grafana are published, and neither the database nor data-api has a way out', (t) => {
  const { services, networks } = composeWith(t);
  const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
  t.deepEqual(
    published.map(([name]) => name),
    ['gateway', 'proxy', 'grafana'],
  );
  t.deepEqual(services['grafana']?.ports, ['127.0.0.1:3000:3000']);
  t.deepEqual(services['gateway']?.ports, ['127.0.0.1:8080:8080']);
  t.true(networks['back']?.internal);
  for (const name of ['postgres', 'redis', 'data-api', 'migrate', 'backup', 'prometheus'])
    t.deepEqual(services[name]?.networks, ['back'], name);
});

test('containers can write to their volumes, also to those that pages add: a named one is made with the owner that the image gives to its path', (t) => {
  const examples = readdirSync(path.join(projectRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => [...read(`docs/${name}`).matchAll(/```yaml\n(services:\n[^`]*)```/g)])
    .map(([, text = '']) => parse(text) as Pick<ComposeFile, 'services'>);
  t.true(examples.length >= 2);
  const own = Object.fromEntries(ofAlmanac(composeWith(t)));
  const ignored = read('.dockerignore').split('\n');
  for (const { services } of [{ services: own }, ...examples])
    for (const [name, { volumes = [] }] of Object.entries(services)) {
      t.true(name in own, name);
      for (const [source = '', target] of volumes.map((volume) => volume.split(':'))) {
        if (target === undefined) t.is(source, '/tmp', name);
        else if (!source.startsWith('.')) t.is(target, '/var/lib/almanac', `${name}: ${source}`);
        else t.true(ignored.includes(source.replace('./', '')), `${source} is no part of the image`);
      }
    }
  t.regex(read('Dockerfile'), /mkdir -p \S+ \/var\/lib\/almanac && chown 1000:1000 \S+ \/var\/lib\/almanac /);
});
