// The files for Prometheus and Grafana: promtool accepts and tries the rules, each alert has its page, and each expression names
// metrics that exist.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { parse } from 'yaml';
import { projectRoot } from '../../kernel/project.ts';

const read = (file: string) => readFileSync(path.join(projectRoot, file), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}
const rules = (
  parse(read('config/observability/alerts.yml')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('config/observability/dashboard.json')) as {
  panels: { id: number; title: string; type: string; targets?: { expr: string }[] }[];
};

/** Of the database; their names begin like those of metrics. */
const roles = ['almanac_data_api', 'almanac_accounts_api', 'almanac_publisher'];

const promtool = (...words: string[]) => promisify(execFile)('promtool', words, { cwd: projectRoot });
const isInstalled = await promtool('--version').then(
  () => true,
  (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return false;
    throw error;
  },
);
const withPromtool = isInstalled ? test : test.skip;
const unless = isInstalled ? '' : ' (promtool is not installed: apt-get install prometheus)';

withPromtool(
  `promtool accepts the rules, and each alert fires when it should and not otherwise${unless}`,
  async (t) => {
    await promtool('check', 'rules', 'config/observability/alerts.yml');
    const { stdout } = await promtool('test', 'rules', 'test/observability/alerts.tests.yml');
    t.regex(stdout, /SUCCESS/);
  },
);

withPromtool(`promtool reads every expression of the dashboard${unless}`, async (t) => {
  const expressions = expressionsOfDashboard();
  // Grafana's own variable.
  const inRules = expressions.map((expr, i) => ({
    record: `panel${i}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }));
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-rules-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'panels.json'); // JSON is YAML
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules: inRules }] }));
  await t.notThrowsAsync(promtool('check', 'rules', file));
});

test('each alert has a test in which it fires, and one in which it does not', (t) => {
  const { tests } = parse(read('test/observability/alerts.tests.yml')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: object[] }[] }[];
  };
  const tried = tests.flatMap((each) => each.alert_rule_test);
  for (const { alert } of rules) {
    const own = tried.filter(({ alertname }) => alertname === alert);
    t.true(
      own.some(({ exp_alerts: alerts }) => alerts.length > 0),
      `${alert} fires`,
    );
    t.true(
      own.some(({ exp_alerts: alerts }) => alerts.length === 0),
      `${alert} is quiet`,
    );
  }
  t.deepEqual(
    [...new Set(tried.map(({ alertname }) => alertname))].filter(
      (name) => !rules.some(({ alert }) => alert === name),
    ),
    [],
  );
});

test('docs/alerts.md has a page for each alert, in the same order, and the alert names it', (t) => {
  const page = read('docs/alerts.md');
  const sections = [...page.matchAll(/^## (Almanac\w+)$/gm)].map(([, name]) => name);
  t.deepEqual(
    sections,
    rules.map(({ alert }) => alert),
  );
  for (const { alert, annotations, labels } of rules) {
    t.is(annotations.runbook_url, `docs/alerts.md#${alert.toLowerCase()}`);
    t.true(['page', 'ticket'].includes(labels.severity), alert);
    const own = page.slice(page.indexOf(`\n## ${alert}\n`)).split('\n## ')[1] ?? '';
    for (const part of ['**Means.**', '**Users see.**', '**Confirm.**', '**Do.**', '**Do not.**']) {
      t.true(own.includes(part), `${alert} says: ${part}`);
    }
  }
});

test('every metric that an alert, a panel or a page names is served', (t) => {
  const operations = read('docs/operations.md');
  const section = operations.slice(operations.indexOf('\n## Metrics'), operations.indexOf('\n## Log'));
  // Compared with the served metrics in test/observability/metrics.test.ts.
  const served = new Set(
    [...section.matchAll(/`((?:almanac|nodejs|process)_\w+)`/g)].map(([, name]) => name),
  );
  const texts = [
    ...rules.map(({ alert, expr }) => [alert, expr] as const),
    ...expressionsOfDashboard().map((expr) => [expr, expr] as const),
    ['docs/alerts.md', read('docs/alerts.md')] as const,
  ];
  for (const [where, text] of texts) {
    const named = [...text.matchAll(/\b(?:almanac|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name);
    const names = named.filter((name) => !roles.includes(name));
    for (const name of names) {
      const isServed = served.has(name) || served.has(name.replace(/_(?:bucket|sum|count)$/, ''));
      t.true(isServed, `${name}, in ${where}`);
    }
    if (where !== 'AlmanacDown') t.true(names.length > 0, where);
  }
});

test('the panels of the dashboard have ids of their own, and ask for something', (t) => {
  const { panels } = dashboard;
  t.is(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { title, type, targets = [] } of panels) t.true(type === 'row' || targets.length > 0, title);
});

function expressionsOfDashboard(): string[] {
  return dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}
