// The gauges of /metrics: the services behind the gateway, Redis, and the journal of usage.
import type { Metric } from '../../kernel/metrics/text.ts';
import type { RedisLink } from '../../kernel/redis.ts';
import type { KeptAnswers } from '../response-cache/kept-answers.ts';
import type { Journal } from '../heartbeat/journal.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export function gaugesOf(options: {
  services: readonly Upstreams[];
  redis: RedisLink | undefined;
  journal: Journal;
  keptAnswers: KeptAnswers;
}): Metric[] {
  const { services, redis, journal, keptAnswers } = options;
  return [
    {
      name: 'almanac_gateway_upstream_up',
      help: 'Instances of the services: 0 from a failed connection to one until it answers a call.',
      read: () =>
        services.flatMap(({ name, urls, isHealthy }) =>
          urls.map((url) => ({ labels: { service: name, url }, value: Number(isHealthy(url)) })),
        ),
    },
    {
      name: 'almanac_gateway_redis_up',
      help: 'Whether Redis is asked: 0 after a fault, until it answers again. Absent where there is none.',
      read: () => (redis === undefined ? [] : [{ value: Number(redis.isUsable) }]),
    },
    {
      name: 'almanac_gateway_response_cache_answers',
      help: 'Answers of data-api that are kept in memory.',
      read: () => [{ value: keptAnswers.size }],
    },
    {
      name: 'almanac_gateway_response_cache_bytes',
      help: 'What they take, at most RESPONSE_CACHE_MB.',
      read: () => [{ value: keptAnswers.calculatedSize }],
    },
    {
      name: 'almanac_gateway_journal_entries',
      help: 'Sums of usage that accounts-api has not taken yet.',
      read: () => [{ value: journal.backlog().entries }],
    },
    {
      name: 'almanac_gateway_journal_batches',
      help: 'Batches of usage under way or waiting to be sent again; more than a few mean that accounts-api is away.',
      read: () => [{ value: journal.backlog().batches }],
    },
  ];
}
