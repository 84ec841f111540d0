// The profile "observability" of docker-compose.yml: the targets of Prometheus and the dashboard of Grafana. The rules and the dashboard themselves:
// test/observability/alerts.test.ts.
import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { parse } from 'yaml';
import { composeWith, readProject as read } from './compose-file.ts';
import { projectRoot } from '../../kernel/project.ts';

interface Prometheus {
  rule_files: string[];
  scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
}

const prometheus = parse(read('deploy/prometheus.yml')) as Prometheus;
const ofProfile = ['prometheus', 'grafana'];
const execute = promisify(execFile);
const hasPromtool = await execute('promtool', ['--version']).then(
  () => true,
  () => false,
);

/** The project file that is mounted at a path of a container. */
function mountedAt(volumes: readonly string[] = [], target: string): string {
  for (const volume of volumes) {
    const [source = '', at = ''] = volume.split(':');
    if (target === at || target.startsWith(`${at}/`))
      return path.join(projectRoot, source, path.relative(at, target));
  }
  throw new Error(`Nothing is mounted at ${target}.`);
}

test('Prometheus scrapes every service that has metrics, each where it serves them', (t) => {
  const { services } = composeWith(t);
  const serving = Object.entries(services).flatMap(([name, { environment }]) => {
    const port = environment?.['METRICS_PORT'];
    return port === undefined ? [] : [`almanac-${name} ${name}:${port}`];
  });
  t.is(serving.length, 5);
  const scraped = prometheus.scrape_configs.map(
    ({ job_name: job, static_configs: [config] }) => `${job} ${config?.targets.join()}`,
  );
  t.deepEqual(scraped.toSorted(), serving.toSorted());
  const networks = new Set(services['prometheus']?.networks);
  for (const { static_configs: configs } of prometheus.scrape_configs)
    for (const target of configs.flatMap(({ targets }) => targets))
      t.true(
        services[target.split(':')[0] ?? '']?.networks?.some((network) => networks.has(network)),
        target,
      );
});

test('the profile is optional, and each of its mounted files is there', (t) => {
  const { services, volumes } = composeWith(t);
  for (const name of ofProfile) {
    t.deepEqual(services[name]?.profiles, ['observability'], name);
    for (const volume of services[name]?.volumes ?? []) {
      const [source = ''] = volume.split(':');
      if (source.startsWith('./')) {
        t.true(existsSync(path.join(projectRoot, source)), volume);
        t.true(volume.endsWith(':ro'), volume);
      } else t.true(source in volumes, volume);
    }
  }
});

(hasPromtool ? test : test.skip)('promtool accepts the configuration with its rules', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const { volumes } = composeWith(t).services['prometheus'] ?? {};
  for (const name of ['prometheus.yml', ...prometheus.rule_files])
    copyFileSync(mountedAt(volumes, `/etc/prometheus/${name}`), path.join(directory, name));
  const { stdout } = await execute('promtool', ['check', 'config', path.join(directory, 'prometheus.yml')]);
  t.regex(stdout, /SUCCESS: \d+ rules found/);
});

test('Grafana finds the data source and the dashboard, whose panels use it, and has no guessable account', (t) => {
  const { grafana } = composeWith(t).services;
  const inGrafana = (target: string) => mountedAt(grafana?.volumes, target);
  const { datasources } = parse(read('deploy/grafana/datasources/prometheus.yml')) as {
    datasources: { type: string; url: string; isDefault: boolean }[];
  };
  t.like(datasources, [{ type: 'prometheus', url: 'http://prometheus:9090', isDefault: true }]);
  const { providers } = parse(read('deploy/grafana/dashboards/almanac.yml')) as {
    providers: { options: { path: string } }[];
  };
  const file = `${providers[0]?.options.path}/dashboard.json`;
  t.is(grafana?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'], file);
  const dashboard = JSON.parse(read(path.relative(projectRoot, inGrafana(file)))) as {
    templating: { list: { name: string; type: string; query: string }[] };
    panels: { title: string; type: string; datasource?: { type: string; uid: string } }[];
  };
  t.like(dashboard.templating.list[0], { name: 'datasource', type: 'datasource', query: 'prometheus' });
  for (const { title, type, datasource } of dashboard.panels)
    if (type !== 'row') t.deepEqual(datasource, { type: 'prometheus', uid: '${datasource}' }, title);
  t.true(statSync(inGrafana('/etc/grafana/provisioning/datasources/prometheus.yml')).isFile());
  t.true(statSync(inGrafana('/etc/grafana/provisioning/dashboards/almanac.yml')).isFile());
  t.like(grafana?.environment, {
    ...{ GF_AUTH_BASIC_ENABLED: 'false', GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer' },
    GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: 'true',
  });
});
