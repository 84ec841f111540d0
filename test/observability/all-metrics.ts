// The metrics of every service in one process, as `almanac start` serves them.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startServices, type Services, type ServicesOptions } from '../services/services.ts';
import { silentLog } from '../services/harness.ts';
import { testWebhooks } from '../webhooks/settings.ts';
import { diskMetrics } from '../../kernel/metrics/disk.ts';
import { exempt } from '../openapi/check-answers.ts';

/** All that can be configured, so that every metric is there. */
export async function startAll(redisUrl: string, options: ServicesOptions = {}): Promise<Services> {
  const services = await startServices({
    redisUrl,
    signIn: { publicUrl: 'https://127.0.0.1:1' }, // nobody: its certificate is in the list all the same
    mail: {},
    publisher: true,
    inboxDirectory: mkdtempSync(path.join(tmpdir(), 'almanac-test-')),
    bulkPlace: { directory: mkdtempSync(path.join(tmpdir(), 'almanac-test-')) },
    webhooks: testWebhooks,
    stripe: {
      secretKey: 'sk_test_x',
      webhookSecrets: ['whsec_x'],
      apiUrl: 'http://127.0.0.1:1',
      graceDays: 14,
    },
    metrics: { host: '127.0.0.1', port: 0 },
    moreMetrics: diskMetrics({ journal: '/', database: '/not-there' }, silentLog),
    ...options,
  });
  exempt(services.metricsUrl);
  return services;
}

/** The samples of /metrics: name and labels, as they are there, → value. And the names of the families. */
export async function scrape(metricsUrl: string | undefined) {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const samples = new Map<string, number>();
  for (const [, name = '', value] of text.matchAll(/^(\w\S*(?:\{.*\})?) (\S+)$/gm)) {
    if (samples.has(name)) throw new Error(`${name} occurs twice: Prometheus would refuse the scrape`);
    samples.set(name, Number(value));
  }
  const families = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = '']) => name);
  return { text, samples, families };
}
