// The gauges of /metrics: the services behind the gateway, Redis, and the journal of usage.
import type { Metric } from '../../kernel/metrics/text.ts';
import type { RedisLink } from '../../kernel/redis.ts';
import type { AnswerCache } from '../response-cache/answer-cache.ts';
import type { Journal } from '../heartbeat/journal.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export function gaugesOf(options: {
  services: readonly Upstreams[];
  redis: RedisLink | undefined;
  journal: Journal;
  answers: AnswerCache;
}): Metric[] {
  const { services, redis, journal, answers } = options;
  return [
    {
      name: 'almanac_gateway_upstream_up',
      help: 'Whether an instance of a service is in use: 0 from a failed connection until it answers again.',
      read: () =>
        services.flatMap(({ name, urls, isHealthy }) =>
          urls.map((url) => ({ labels: { service: name, url }, value: Number(isHealthy(url)) })),
        ),
    },
    {
      name: 'almanac_gateway_redis_up',
      help: 'Whether Redis is in use: 0 after a fault, until it answers again. Absent without Redis.',
      read: () => (redis === undefined ? [] : [{ value: Number(redis.isUsable) }]),
    },
    {
      name: 'almanac_gateway_response_cache_answers',
      help: 'Answers of data-api in the response cache.',
      read: () => [{ value: answers.size }],
    },
    {
      name: 'almanac_gateway_response_cache_bytes',
      help: 'Memory of the response cache, at most RESPONSE_CACHE_MB.',
      read: () => [{ value: answers.calculatedSize }],
    },
    {
      name: 'almanac_gateway_journal_entries',
      help: 'Usage entries that accounts-api has not accepted yet.',
      read: () => [{ value: journal.backlog().entries }],
    },
    {
      name: 'almanac_gateway_journal_batches',
      help: 'Batches of usage in flight or waiting for a retry; more than a few mean that accounts-api is unavailable.',
      read: () => [{ value: journal.backlog().batches }],
    },
  ];
}
