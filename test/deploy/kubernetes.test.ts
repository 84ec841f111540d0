// k8s/, rendered by kustomize: each object is one that Kubernetes knows, the pods are closed, and each gets the settings that it reads.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { render, type Manifest } from './kustomize.ts';
import { processNames, settingsOf, type ProcessName } from '../../cli/service-settings.ts';
import { projectRoot } from '../../kernel/project.ts';
import { readSettings } from '../../kernel/settings/settings.ts';

interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

interface Variable {
  name: string;
  value?: string;
  valueFrom?: { secretKeyRef?: KeyRef; configMapKeyRef?: KeyRef };
}

interface Probe {
  httpGet?: { path: string; port: string };
  periodSeconds?: number;
  failureThreshold?: number;
}

interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: Variable[];
  securityContext?: unknown;
  resources?: { requests?: object; limits?: { memory?: string } };
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  workingDir?: string;
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  automountServiceAccountToken?: boolean;
  enableServiceLinks?: boolean;
  serviceAccountName?: string;
  terminationGracePeriodSeconds?: number;
  topologySpreadConstraints?: { topologyKey: string }[];
  securityContext?: Record<string, unknown>;
  volumes?: { name: string; persistentVolumeClaim?: { claimName: string } }[];
}

interface Workload extends Manifest {
  spec: {
    selector?: { matchLabels: Record<string, string> };
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    volumeClaimTemplates?: { metadata: { name: string } }[];
  };
}

interface Scheduled extends Manifest {
  spec: { jobTemplate: { spec: { template: Workload['spec']['template'] } } };
}

interface Peer {
  podSelector?: { matchLabels?: Record<string, string>; matchExpressions?: { values: string[] }[] };
  namespaceSelector?: { matchLabels: Record<string, string> };
  ipBlock?: { cidr: string };
}

interface Policy extends Manifest {
  spec: {
    podSelector: { matchLabels?: Record<string, string> };
    policyTypes: string[];
    ingress?: { from: Peer[]; ports: { port: number }[] }[];
    egress?: { to: Peer[]; ports: { port: number }[] }[];
  };
}

const [local, production, commands, loads] = [
  'overlays/local',
  'overlays/production',
  'commands',
  'loads',
].map((name) => render(`k8s/${name}`)) as [Manifest[], Manifest[], Manifest[], Manifest[]];
const serving = ['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'];
const nameLabel = 'app.kubernetes.io/name';
/** The ports of URLs that others choose: of kernel/outbound/address-guard.ts, and 80 where http:// is allowed. */
const webPorts = [443, 8443, 80];

const workloads = (from: Manifest[]) =>
  from.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind)) as Workload[];
const podsOf = (from: Manifest[]): { name: string; spec: PodSpec }[] => [
  ...workloads(from).map(({ metadata, spec }) => ({ name: metadata.name, spec: spec.template.spec })),
  ...from
    .filter(({ kind }) => kind === 'Pod')
    .map((pod) => ({ name: pod.metadata.name, spec: (pod as Manifest & { spec: PodSpec }).spec })),
  ...(from.filter(({ kind }) => kind === 'CronJob') as Scheduled[]).map(({ metadata, spec }) => ({
    name: metadata.name,
    spec: spec.jobTemplate.spec.template.spec,
  })),
];
const all = [local, production, commands, loads].flatMap(podsOf);
const isOurs = ({ image }: Container) => /^(?:registry\.example\/)?almanac[:@]/.test(image);
const podOf = (from: Manifest[], name: string): PodSpec => {
  const found = podsOf(from).find((pod) => pod.name === name);
  if (found === undefined) throw new Error(`There is no ${name}.`);
  return found.spec;
};

test('each object is valid by the schemas of Kubernetes, and has no field that they do not know', async (t) => {
  const documents = [...local, ...production, ...commands, ...loads];
  for (const document of documents) {
    const group = document.apiVersion === 'v1' ? 'v1' : document.apiVersion;
    const module = (await import(`kubernetes-models/${group}/${document.kind}`)) as Record<
      string,
      new (data: object) => { validate(): void }
    >;
    const Model = module[document.kind];
    t.notThrows(() => Model && new Model(document).validate(), `${document.kind} ${document.metadata.name}`);
  }
  t.is(unknownFields(t, documents), '');
  t.regex(unknownFields(t, [{ ...documents[0], specc: {} } as never]), /'"specc"' does not exist/);
});

/** The output of the type check for the objects as literals, for which an unknown field is an error. */
function unknownFields(t: ExecutionContext, documents: readonly Manifest[]): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(directory, 'node_modules'));
  const lines = documents.map(
    ({ apiVersion, kind, ...rest }, at) =>
      `import type { I${kind} as T${at} } from 'kubernetes-models/${apiVersion}/${kind}';\n` +
      `export const d${at}: T${at} = ${JSON.stringify({ apiVersion, kind, ...rest })};`,
  );
  writeFileSync(path.join(directory, 'package.json'), '{"type":"module"}');
  writeFileSync(path.join(directory, 'documents.ts'), lines.join('\n'));
  const tsc = path.join(projectRoot, 'node_modules/.bin/tsc');
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', ''];
  try {
    execFileSync(tsc, [...options, 'documents.ts'], { cwd: directory, encoding: 'utf8', stdio: 'pipe' });
    return '';
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

test('no pod runs as root, writes to its image, gains privileges or has a token', (t) => {
  for (const { name, spec } of all) {
    t.false(spec.automountServiceAccountToken, name);
    t.false(spec.enableServiceLinks, name); // a Service named data-api would set DATA_API_PORT, a setting, to tcp://…
    const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext ?? {};
    t.true(runAsNonRoot, name);
    t.true(Number(runAsUser) > 0, name);
    t.deepEqual(seccompProfile, { type: 'RuntimeDefault' }, name);
    for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
      t.deepEqual(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        `${name}/${container.name}`,
      );
      t.truthy(container.resources?.requests, name);
      t.truthy(container.resources?.limits?.memory, name);
    }
  }
  for (const document of [...local, ...production].filter(({ kind }) => kind === 'ServiceAccount'))
    t.false((document as Manifest & { automountServiceAccountToken: boolean }).automountServiceAccountToken);
  for (const name of [...serving, 'migrate']) t.is(podOf(production, name).serviceAccountName, name);
});

test('each container gets the settings that its process reads, and no other', (t) => {
  for (const from of [local, production, commands]) {
    for (const { name, spec } of podsOf(from)) {
      const [container] = spec.containers;
      if (container === undefined || !isOurs(container)) continue;
      const process = processNames.find((each) => each === name) as ProcessName;
      const given = (container.env ?? []).map((variable) => variable.name);
      t.deepEqual(
        given.filter((each) => each !== 'NODE_OPTIONS').sort(),
        [...settingsOf(process)].sort(),
        name,
      );
      if (serving.includes(name)) t.deepEqual(container.args, ['start', name]);
    }
  }
  t.deepEqual(
    [...podsOf(production), ...podsOf(commands)].map(({ name }) => name).sort(),
    [...processNames].sort(),
  );
});

test('a scheduled load is given settings that commands read, and reaches the database as they do', (t) => {
  t.deepEqual(
    loads.map(({ kind }) => kind),
    ['CronJob'],
  );
  for (const { metadata, spec } of loads as Scheduled[]) {
    const { template } = spec.jobTemplate.spec;
    t.is(template.metadata.labels[nameLabel], 'commands', metadata.name);
    const [container] = template.spec.containers;
    const given = (container?.env ?? []).map((variable) => variable.name);
    t.deepEqual(
      given.filter((name) => !settingsOf('commands').includes(name)),
      [],
    );
    t.true(given.includes('DATABASE_URL'));
    t.is(container?.args?.[0], 'publish');
  }
});

test('files that publish writes into the folder outlive pods and jobs, and belong to none of them', (t) => {
  for (const from of [commands, loads])
    for (const { name, spec } of podsOf(from)) {
      const mount = spec.containers[0]?.volumeMounts?.find(({ mountPath }) => mountPath === '/load');
      t.not(mount?.readOnly, true, name);
      const volume = spec.volumes?.find((each) => each.name === mount?.name);
      t.is(volume?.persistentVolumeClaim?.claimName, 'load', name);
      t.is(
        spec.securityContext?.['fsGroup'],
        spec.securityContext?.['runAsGroup'],
        `${name} may write there`,
      );
    }
  t.is(podOf(commands, 'commands').containers[0]?.workingDir, '/load');
  for (const from of [local, production])
    t.true(from.some(({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name === 'load'));
  for (const from of [commands, loads]) t.false(from.some(({ kind }) => kind === 'PersistentVolumeClaim'));
});

/** The environment of a container, from the ConfigMap and the Secret that it is given. */
function environmentOf(container: Container, config: object, secrets: object): Record<string, string> {
  const entries = (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    const { secretKeyRef, configMapKeyRef } = valueFrom ?? {};
    const ref = secretKeyRef ?? configMapKeyRef;
    if (ref === undefined) return [[name, value ?? '']];
    const found = (secretKeyRef === undefined ? config : secrets)[ref.key as never] as string | undefined;
    if (found === undefined && ref.optional !== true)
      throw new Error(`${container.name}: ${ref.key} is not there.`);
    return found === undefined ? [] : [[name, found]];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

test('with the documented settings and secrets every container has all that it needs, and its own role', (t) => {
  const secrets = parseEnv(readFileSync(path.join(projectRoot, 'k8s/overlays/local/secrets.env'), 'utf8'));
  const users: Record<string, string> = {
    ...{ 'data-api': 'almanac_data_api', 'accounts-api': 'almanac_accounts_api' },
    ...{ worker: 'almanac_accounts_api', publisher: 'almanac_publisher', migrate: 'almanac' },
  };
  for (const from of [local, production]) {
    const config = from.find(({ kind }) => kind === 'ConfigMap') as Manifest & {
      data: Record<string, string>;
    };
    for (const { name, spec } of podsOf(from)) {
      for (const container of [...spec.containers, ...(spec.initContainers ?? [])].filter(isOurs)) {
        const settings = readSettings(environmentOf(container, config.data, secrets));
        const url = new URL(settings.databaseUrl ?? 'none://');
        if (name !== 'gateway') t.is(url.username, users[name] ?? '', name);
        else t.deepEqual(settings.dataApiUrls, ['http://data-api:8081']);
      }
    }
  }
  const settingsOfProduction = (
    production.find(({ kind }) => kind === 'ConfigMap') as never as { data: object }
  ).data;
  const [gateway] = podOf(production, 'gateway').containers;
  t.is(readSettings(environmentOf(gateway as Container, settingsOfProduction, secrets)).trustedProxyHops, 1);
});

test('probes match the services, and a pod has enough time to stop', (t) => {
  for (const name of serving) {
    const { containers, initContainers, terminationGracePeriodSeconds = 0 } = podOf(production, name);
    const [container] = containers as [Container];
    const { startupProbe, livenessProbe, readinessProbe, env = [] } = container;
    const path = name === 'worker' ? '/metrics' : '/healthz';
    for (const probe of [startupProbe, livenessProbe]) t.is(probe?.httpGet?.path, path, name);
    t.true((startupProbe?.failureThreshold ?? 0) * (startupProbe?.periodSeconds ?? 0) >= 60, name);
    if (name !== 'gateway') t.deepEqual(initContainers?.[0]?.args, ['migrate', '--wait'], name);
    if (name === 'worker') continue;
    t.is(readinessProbe?.httpGet?.path, '/readyz', name);
    const drainMs = Number(env.find((variable) => variable.name === 'DRAIN_DELAY_MS')?.value);
    const { periodSeconds = 10, failureThreshold = 3 } = { ...readinessProbe }; // as Kubernetes has them
    t.true(
      drainMs >= 1000 * (periodSeconds * failureThreshold + 2),
      `${name} accepts connections until its probes have failed, and two seconds more: that is known on no node before`,
    );
    t.true(terminationGracePeriodSeconds * 1000 >= drainMs + 30_000 + 10_000, name);
  }
});

test('the heap of a service fits its memory, with room for memory outside the heap', (t) => {
  for (const name of serving) {
    const [container] = podOf(production, name).containers;
    const options = container?.env?.find((variable) => variable.name === 'NODE_OPTIONS')?.value ?? '';
    const heapMb = Number(/--max-old-space-size=(\d+)/.exec(options)?.[1]);
    const limitMb = Number(/^(\d+)Mi$/.exec(container?.resources?.limits?.memory ?? '')?.[1]);
    t.true(heapMb + 128 <= limitMb, `${name}: ${heapMb} of ${limitMb} MiB`);
  }
});

test('the journal of a gateway is on a volume of its own, which outlives the pod', (t) => {
  for (const from of [local, production]) {
    const gateway = workloads(from).find(({ metadata }) => metadata.name === 'gateway');
    t.is(gateway?.kind, 'StatefulSet');
    const [claim] = gateway?.spec.volumeClaimTemplates ?? [];
    const [container] = gateway?.spec.template.spec.containers ?? [];
    const mount = container?.volumeMounts?.find(({ name }) => name === claim?.metadata.name);
    const journal = container?.env?.find(({ name }) => name === 'JOURNAL_DIR')?.value;
    t.true(journal?.startsWith(`${mount?.mountPath}/`));
  }
});

test('each service may lose one pod at a time, is spread, and grows', (t) => {
  const named = (kind: string) =>
    production
      .filter((each) => each.kind === kind)
      .map(({ metadata }) => metadata.name)
      .sort();
  t.deepEqual(named('PodDisruptionBudget'), [...serving].sort());
  t.deepEqual(named('HorizontalPodAutoscaler'), ['accounts-api', 'data-api', 'gateway']);
  for (const name of serving)
    t.deepEqual(
      podOf(production, name).topologySpreadConstraints?.map(({ topologyKey }) => topologyKey),
      ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'],
    );
  for (const document of production.filter(({ kind }) => kind === 'HorizontalPodAutoscaler')) {
    const { spec } = document as Manifest & {
      spec: {
        scaleTargetRef: { kind: string; name: string };
        metrics: { type: string; pods?: { metric: { name: string } } }[];
      };
    };
    const target = workloads(production).find(({ metadata }) => metadata.name === spec.scaleTargetRef.name);
    t.is(spec.scaleTargetRef.kind, target?.kind ?? '');
    t.is('replicas' in (target?.spec ?? {}), false, 'what is scaled has no number of its own');
    const metrics = spec.metrics.map(({ type, pods }) => pods?.metric.name ?? type);
    t.deepEqual(
      metrics,
      document.metadata.name === 'gateway'
        ? ['Resource', 'almanac_gateway_requests_under_way']
        : ['Resource'],
    );
  }
  t.true(
    readFileSync(path.join(projectRoot, 'gateway/observability/metrics.ts'), 'utf8').includes(
      'almanac_gateway_requests_under_way',
    ),
  );
});

/** The pods that a policy selects, by name or by access label; all if it has neither label. */
const selected = (labels: Record<string, string> = {}) =>
  labels[nameLabel] ?? labels['almanac/access'] ?? 'all';

/** Who may open a connection to whom: the ways that policies open at both ends. `*` is the world, `ns:` a namespace. */
function allowedConnections(from: Manifest[]): string[] {
  const policies = from.filter(({ kind }) => kind === 'NetworkPolicy') as Policy[];
  const peers = (list: Peer[]) =>
    list.flatMap(({ podSelector, namespaceSelector, ipBlock }) => [
      ...(podSelector?.matchLabels === undefined ? [] : [selected(podSelector.matchLabels)]),
      ...(podSelector?.matchExpressions?.flatMap(({ values }) => values) ?? []),
      ...(namespaceSelector === undefined
        ? []
        : [`ns:${Object.values(namespaceSelector.matchLabels).join()}`]),
      ...(ipBlock === undefined ? [] : ['*']),
    ]);
  const [out, into] = [new Set<string>(), new Set<string>()];
  for (const { spec } of policies) {
    const self = selected(spec.podSelector.matchLabels);
    for (const { to, ports } of spec.egress ?? [])
      for (const peer of peers(to)) for (const { port } of ports) out.add(`${self} > ${peer} ${port}`);
    for (const { from: senders, ports } of spec.ingress ?? [])
      for (const peer of peers(senders)) for (const { port } of ports) into.add(`${peer} > ${self} ${port}`);
  }
  const isOneSided = (connection: string) => / > (?:\*|ns:)|^ns:/.test(connection);
  return [...new Set([...out, ...into])]
    .map((connection) =>
      isOneSided(connection) || (out.has(connection) && into.has(connection))
        ? connection
        : `${connection} at one end`,
    )
    .sort();
}

test('only the gateway reaches the services, only they reach the database, and only who must gets out', (t) => {
  for (const from of [local, production]) {
    const closed = (from.filter(({ kind }) => kind === 'NetworkPolicy') as Policy[]).find(
      ({ metadata }) => metadata.name === 'default-deny',
    );
    t.deepEqual(closed?.spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    t.deepEqual(
      allowedConnections(from),
      [
        'ns:ingress-nginx > gateway 8080',
        ...serving.map((name) => `ns:monitoring > ${name} 9464`),
        ...['gateway', 'data-api', 'accounts-api', 'publisher'].map((name) => `${name} > ns:monitoring 4318`),
        ...['gateway > data-api 8081', 'gateway > accounts-api 8082', 'gateway > redis 6379'],
        'gateway > publisher 8083',
        ...['data-api', 'accounts-api', 'worker', 'publisher', 'migrate', 'commands'].map(
          (name) => `${name} > database 5432`,
        ),
        ...['accounts-api', 'commands'].map((name) => `${name} > redis 6379`),
        'all > ns:kube-system 53',
        'accounts-api > * 443',
        ...['worker', 'publisher', 'commands'].flatMap((name) =>
          webPorts.map((port) => `${name} > * ${port}`),
        ),
        ...['worker', 'commands'].flatMap((name) => [`${name} > * 465`, `${name} > * 587`]),
      ].sort(),
    );
    for (const { metadata, spec } of workloads(from)) {
      const { labels } = spec.template.metadata;
      t.is(labels[nameLabel], metadata.name, 'the label that policies select by');
      if (['database', 'redis'].includes(metadata.name)) t.is(labels['almanac/access'], metadata.name);
    }
  }
});

test('production serves by TLS, from images by digest, and has no secret of its own', (t) => {
  for (const { name, spec } of podsOf(production))
    for (const { image } of [...spec.containers, ...(spec.initContainers ?? [])])
      t.regex(image, /^[\w.-]+\/almanac@sha256:[0-9a-f]{64}$/, name);
  t.is(
    production.find(({ kind }) => kind === 'Secret'),
    undefined,
  );
  const ingress = production.find(({ kind }) => kind === 'Ingress') as Manifest & {
    spec: {
      tls: { hosts: string[] }[];
      rules: { host: string; http: { paths: { backend: { service: { name: string } } }[] } }[];
    };
  };
  t.deepEqual(
    ingress.spec.tls.flatMap(({ hosts }) => hosts),
    ingress.spec.rules.map(({ host }) => host),
  );
  for (const { http } of ingress.spec.rules) t.is(http.paths[0]?.backend.service.name, 'gateway');
  for (const { image } of podsOf(local).flatMap(({ spec }) => spec.containers))
    t.regex(image, /^(?:almanac:local|[a-z]+:\d+-bookworm)$/, 'no image of an unknown version');
  for (const document of [...local, ...production, ...commands])
    t.is(document.kind === 'Namespace' ? document.metadata.name : document.metadata.namespace, 'almanac');
});
