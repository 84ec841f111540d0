// The state of Redis, for /metrics and `almanac check`: whether it is in use, its memory, and whether it evicts keys.
import type { Log } from '../log/log.ts';
import { script, type RedisLink } from '../redis.ts';
import { askedFigures } from './figures.ts';
import type { Metric } from './text.ts';

export interface RedisMemory {
  usedBytes: number;
  /** 0: no limit. */
  maxBytes: number;
  /** `noeviction`, or which keys Redis evicts when its memory is full. */
  policy: string;
  /** Since its start. */
  evictedKeys: number;
}

// A script works with all kinds of servers; `pcall` because a user without the permission to ask is not a fault of Redis.
const info = script(`
local memory, stats = redis.pcall('info', 'memory'), redis.pcall('info', 'stats')
if type(memory) == 'table' or type(stats) == 'table' then return false end
return memory .. stats`);

/** The figures of one server; in a cluster, of one master. @throws Error if Redis does not answer, or its user lacks the permission. */
export async function readRedisMemory(redis: RedisLink): Promise<RedisMemory> {
  const text = await redis.run(info, ['almanac:memory'], []);
  if (typeof text !== 'string') throw new Error('the user of REDIS_URL may not run INFO');
  const fields = new Map(
    text.split('\r\n').map((line) => line.split(':', 2) as [name: string, value: string]),
  );
  const numberOf = (name: string) => Number(fields.get(name) ?? Number.NaN);
  return {
    usedBytes: numberOf('used_memory'),
    maxBytes: numberOf('maxmemory'),
    policy: fields.get('maxmemory_policy') ?? 'unknown',
    evictedKeys: numberOf('evicted_keys'),
  };
}

/** @param service the owner of the connection. */
export function redisMetrics(service: string, redis: RedisLink, log: Log): Metric[] {
  const memory = askedFigures('the memory of Redis', () => readRedisMemory(redis), log);
  return [
    {
      name: 'almanac_service_redis_up',
      help: 'Whether Redis is in use: 0 after a fault, until it answers again. Absent without Redis.',
      read: () => [{ labels: { service }, value: Number(redis.isUsable) }],
    },
    memory.metric({ name: 'almanac_redis_memory_bytes', help: 'Memory of Redis in use.' }, (figures) => [
      { value: figures.usedBytes },
    ]),
    memory.metric(
      { name: 'almanac_redis_memory_max_bytes', help: 'maxmemory of Redis; 0: no limit.' },
      (figures) => [{ value: figures.maxBytes }],
    ),
    memory.metric(
      { name: 'almanac_redis_noeviction', help: 'Whether the maxmemory-policy of Redis is noeviction.' },
      (figures) => [{ value: Number(figures.policy === 'noeviction') }],
    ),
    memory.metric(
      {
        name: 'almanac_redis_evicted_keys_total',
        help: 'Keys that Redis has evicted for lack of memory.',
        type: 'counter',
      },
      (figures) => [{ value: figures.evictedKeys }],
    ),
  ];
}
