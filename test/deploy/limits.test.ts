// Limits that are written in more than one place: the code is the source, and compose, k8s, the image, the proxies and the pages agree with it.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { composeWith, readProject as read } from './compose-file.ts';
import { render, type Manifest } from './kustomize.ts';
import { projectRoot } from '../../kernel/project.ts';
import { readSettings } from '../../kernel/settings/settings.ts';

interface Container {
  name: string;
  args?: string[];
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  resources: { limits: { memory: string } };
}

type Pods = Manifest & {
  spec: {
    replicas?: number;
    strategy?: { rollingUpdate?: { maxSurge?: number } };
    terminationGracePeriodSeconds?: number;
    containers?: Container[];
    template?: { spec: { containers: Container[]; terminationGracePeriodSeconds?: number } };
  };
};

const serving = ['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'];
const defaults = readSettings({});
const [local, production, commands] = ['overlays/local', 'overlays/production', 'commands'].map((name) =>
  render(`k8s/${name}`),
) as [Manifest[], Manifest[], Manifest[]];

function found(from: readonly Manifest[], kind: string, name: string): Manifest {
  const object = from.find((each) => each.kind === kind && each.metadata.name === name);
  if (object === undefined) throw new Error(`There is no ${kind} ${name}.`);
  return object;
}

function podsOf(name: string, from = production): Pods['spec'] {
  const kind = name === 'commands' ? 'Pod' : name === 'gateway' ? 'StatefulSet' : 'Deployment';
  return (found(name === 'commands' ? commands : from, kind, name) as Pods).spec;
}

const containerOf = (name: string, from = production): Container => {
  const { containers = [], template } = podsOf(name, from);
  return (template?.spec.containers ?? containers)[0] as Container;
};

/** The only number in a file of the code that the pattern finds. */
function numberIn(file: string, pattern: RegExp): number {
  const [match, ...more] = [...read(file).matchAll(new RegExp(pattern, 'g'))];
  if (match?.[1] === undefined || more.length > 0) throw new Error(`${file} has not one ${pattern}`);
  return Number(match[1].replaceAll('_', ''));
}

const mebibytes = (text: string | undefined): number => {
  const [, number, unit] = /^(\d+)([mMgG])i?b?$/.exec(text ?? '') ?? [];
  return Number(number) * (unit?.toLowerCase() === 'g' ? 1024 : 1);
};

function ingressOf(from: Manifest[]) {
  const { metadata } = found(from, 'Ingress', 'gateway') as Manifest & {
    metadata: { annotations: Record<string, string> };
  };
  return (name: string) => metadata.annotations[`nginx.ingress.kubernetes.io/${name}`];
}

/** The production overlay with more lines in its settings. */
function productionWith(t: ExecutionContext, settings: string): Manifest[] {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync(path.join(projectRoot, 'k8s'), directory, { recursive: true });
  writeFileSync(path.join(directory, 'overlays/production/settings.env'), settings);
  return render(path.join(directory, 'overlays/production'));
}

test('the ingress accepts a body of UPLOAD_MB, for any value of it, and waits longer than an answer can take', (t) => {
  t.is(parseEnv(read('k8s/base/settings.env'))['UPLOAD_MB'], String(defaults.uploadMb));
  t.is(ingressOf(production)('proxy-body-size'), `${defaults.uploadMb}m`);
  t.is(ingressOf(productionWith(t, 'UPLOAD_MB=200\n'))('proxy-body-size'), '200m');
  t.is(
    ingressOf(production)('proxy-request-buffering'),
    'off',
    'no body is stored before its caller is known',
  );
  t.true(Number(ingressOf(production)('proxy-read-timeout')) * 1000 > defaults.answerWithinMs);
  t.notRegex(read('deploy/Caddyfile'), /max_size|_timeout/, 'the proxy of compose has no limit of its own');
});

test('each port is that of the settings: in compose, in k8s, in the image and behind the proxy', (t) => {
  const { services } = composeWith(t);
  const ports: Record<string, number> = {
    ...{ gateway: defaults.port, 'data-api': defaults.dataApiPort },
    ...{ 'accounts-api': defaults.accountsApiPort, publisher: defaults.publisherPort },
  };
  const metricsPort = Number(services['gateway']?.environment?.['METRICS_PORT']);
  for (const name of serving) {
    const { environment = {}, healthcheck } = services[name] ?? {};
    const container = containerOf(name);
    const served = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port.containerPort]));
    t.is(served['metrics'], metricsPort, name);
    t.is(Number(environment['METRICS_PORT']), metricsPort, name);
    t.is(Number(container.env?.find((each) => each.name === 'METRICS_PORT')?.value), metricsPort, name);
    const port = ports[name];
    t.is(Number(new URL(healthcheck?.test.at(-1) ?? '').port), port ?? metricsPort, name);
    if (port === undefined) continue;
    const setting = name === 'gateway' ? 'PORT' : `${name.toUpperCase().replace('-', '_')}_PORT`;
    t.is(Number(environment[setting]), port, name);
    t.is(Number(container.env?.find((each) => each.name === setting)?.value), port, name);
    t.is(served['http'], port, name);
    const service = found(production, 'Service', name) as Manifest & { spec: { ports: { port: number }[] } };
    t.is(service.spec.ports[0]?.port, port, name);
  }
  const exposed = /^EXPOSE (.*)$/m.exec(read('Dockerfile'))?.[1]?.split(' ').map(Number);
  t.deepEqual(exposed, [...Object.values(ports), metricsPort]);
  t.regex(read('deploy/Caddyfile'), new RegExp(`reverse_proxy gateway:${defaults.port} `));
  t.is(services['gateway']?.ports?.[0], `127.0.0.1:${defaults.port}:${defaults.port}`);
  t.true(read('scripts/health.ts').includes(`127.0.0.1:${defaults.port}/`), 'the health check of the image');
});

test('the heap, the drain delay and the time to stop of a service are the same in compose and in k8s', (t) => {
  const { services } = composeWith(t);
  for (const name of serving) {
    const heap = containerOf(name).env?.find((each) => each.name === 'NODE_OPTIONS')?.value;
    t.is(services[name]?.environment?.['NODE_OPTIONS'], heap, name);
    const seconds = podsOf(name).template?.spec.terminationGracePeriodSeconds;
    t.is(services[name]?.stop_grace_period, `${seconds}s`, name);
  }
  const [, flags, mb] =
    /\['(--max-semi-space-size=\d+)', `--max-old-space-size=\$\{service === undefined \? \d+ : (\d+)\}`\]/.exec(
      read('almanac.js'),
    ) as unknown as [string, string, string];
  t.is(services['gateway']?.environment?.['NODE_OPTIONS'], `${flags} --max-old-space-size=${mb}`);
});

test('a container has the same memory limit in compose and k8s, and its heap leaves room for other memory', (t) => {
  const { services } = composeWith(t);
  for (const name of [...serving, 'commands']) {
    const limit = mebibytes(services[name === 'commands' ? 'cli' : name]?.mem_limit);
    t.is(limit, mebibytes(containerOf(name).resources.limits.memory), name);
  }
  for (const [name, { mem_limit: limit, environment }] of Object.entries(services)) {
    const heap = /--max-old-space-size=(\d+)/.exec(String(environment?.['NODE_OPTIONS']))?.[1];
    if (heap !== undefined) t.true(Number(heap) + 128 <= mebibytes(limit), name);
  }
});

test('a process that reads files has memory for what FILE_MEMORY_MB allows them, and for itself', (t) => {
  const ofFile = 2 * defaults.fileLimits.memoryMb; // its heap, and as much for unpacked data
  const own = 320;
  t.true(mebibytes(containerOf('publisher').resources.limits.memory) >= own + 2 * ofFile);
  t.true(mebibytes(containerOf('commands').resources.limits.memory) >= own + ofFile);
});

/** The most connections of one process: its pools, one to listen on for accounts-api and worker, and one more to probe a server that stalls. */
function connectionsOf(name: string): number {
  const usual = numberIn('kernel/database.ts', /connectionsMax = (\d+)/);
  const ofAccounts = numberIn('accounts-api/database.ts', /const connectionsMax = (\d+)/);
  const boss = (isWorker: boolean) =>
    numberIn('accounts-api/jobs/jobs.ts', new RegExp(`supervise: ${isWorker}, max: (\\d+)`));
  const ofFiles = numberIn('ingest/publisher/child-process-main.ts', /connectionsMax: (\d+)/);
  switch (name) {
    case 'data-api': // calls, long reads, questions, the clock
      return usual + numberIn('data-api/main.ts', /longReadConnections = .*\? (\d+) :/) + 1 + 1 + 1;
    case 'accounts-api':
      return ofAccounts + boss(false) + 1 + 1;
    case 'worker':
      return ofAccounts + boss(true) + 1 + 1;
    case 'publisher':
      return (
        numberIn('ingest/main.ts', /connectionsMax: (\d+)/) +
        numberIn('ingest/operator/server.ts', /connectionsMax: (\d+)/) +
        2 * ofFiles +
        1
      );
    case 'commands':
      return usual + ofFiles;
    default:
      return name === 'migrate' || name === 'backup' ? usual : 0;
  }
}

const reserved = 3; // superuser_reserved_connections
const needed = (counted: readonly (readonly [name: string, processes: number])[]) =>
  counted.reduce((sum, [name, processes]) => sum + processes * connectionsOf(name), reserved);
const maxConnections = (text: string) => Number(/max_connections(?:=|: ')(\d+)/.exec(text)?.[1] ?? 100);

test('PostgreSQL has a connection for each that the services open, also while they are replaced and scaled as far as they may be', (t) => {
  const ofCompose = [...serving, 'commands', 'backup', 'migrate'].map((name) => [name, 1] as const);
  const postgres = JSON.stringify(composeWith(t).services['postgres']);
  t.true(needed(ofCompose) <= maxConnections(postgres), `compose: ${needed(ofCompose)}`);
  const scaled = (from: Manifest[], name: string) => {
    const { replicas = 1, strategy } = podsOf(name, from);
    const scaler = from.find(
      (each) => each.kind === 'HorizontalPodAutoscaler' && each.metadata.name === name,
    );
    const most = (scaler as (Manifest & { spec: { maxReplicas: number } }) | undefined)?.spec.maxReplicas;
    return (most ?? replicas) + (strategy?.rollingUpdate?.maxSurge ?? 0);
  };
  const ofKubernetes = (from: Manifest[]) =>
    needed([
      ...serving.map((name) => [name, scaled(from, name)] as const),
      ...[['commands', 2] as const, ['migrate', 1] as const], // a pod of commands, and a job of loads
    ]);
  const database = JSON.stringify(found(local, 'StatefulSet', 'database'));
  t.true(ofKubernetes(local) <= maxConnections(database), `local: ${ofKubernetes(local)}`);
  const documented = /kind: Cluster\n(?:.+\n)+/.exec(read('docs/operations.md'))?.[0] ?? '';
  t.true(ofKubernetes(production) <= maxConnections(documented), `production: ${ofKubernetes(production)}`);
});

test('Redis refuses writes before its container has no memory left', (t) => {
  const container = containerOf('redis', local) as Container & { command: string[] };
  const most = mebibytes(/maxmemory (\d+mb)/.exec(container.command.join(' '))?.[1]);
  t.true(most <= 0.8 * mebibytes(container.resources.limits.memory), `${most}`);
  const { redis } = composeWith(t).services;
  const mostOfCompose = mebibytes(/maxmemory (\d+mb)/.exec(redis?.command?.join(' ') ?? '')?.[1]);
  t.true(mostOfCompose <= 0.8 * mebibytes(redis?.mem_limit), `${mostOfCompose}`);
});

test('the pages name the defaults of the settings', (t) => {
  const example = parseEnv(read('.env.example'));
  const pages = ['inbox', 'operations', 'operator', 'sources', 'errors', 'funds', 'publish', 'embargo'];
  let compared = 0;
  for (const page of pages)
    for (const [text, name = '', value] of read(`docs/${page}.md`).matchAll(
      /`([A-Z]+(?:_[A-Z]+)+)`,? \(?(\d[\d,]*)(?: [A-Za-z]+)?(?: by default|,? the default)/g,
    )) {
      t.is(value?.replaceAll(',', ''), example[name], `docs/${page}.md: ${text}`);
      compared++;
    }
  t.true(compared >= 5, `${compared}`);
});
