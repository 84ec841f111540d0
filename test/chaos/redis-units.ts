// Redis in the chaos run: one server, a shard of a cluster that has a replica, or a master that sentinels watch. Hides which server of a set is
// the master at the moment: that is the one to which something is done.
import { startRedisCluster, startWatchedRedis } from '../services/redis-sets.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { until, untilThere } from '../run/until.ts';
import { stubbornly, type Unit } from './units.ts';

export type RedisKind = 'none' | 'one' | 'cluster' | 'sentinel';

export interface RedisUnit extends Unit {
  /** A value for REDIS_URL. */
  readonly url: string;
  readonly redis: Pick<PrivateRedis, 'command'>;
  /** Kills the master, and resolves when a replica is the master. Undefined: there is no replica. */
  readonly failOver?: () => Promise<void>;
}

/** @param track is given each unit as soon as it runs. */
export async function startRedisOf(
  kind: RedisKind,
  track: (unit: Unit) => void,
  over: AbortSignal,
): Promise<RedisUnit | undefined> {
  if (kind === 'none') return undefined;
  const started = kind === 'one' ? await startOne(over) : await startSet(kind, over);
  track(started.rest);
  track(started.unit);
  return started.unit;
}

interface Started {
  unit: RedisUnit;
  /** Ends processes that the unit leaves behind. */
  rest: Unit;
}

async function startOne(over: AbortSignal): Promise<Started> {
  const redis = await startRedis();
  const { url, kill, stall, goOn, stop } = redis;
  const start = () => stubbornly('redis', over, redis.restart);
  return { unit: { name: 'redis', url, redis, kill, stop: kill, stall, goOn, start }, rest: restOf(stop) };
}

/** One master and its replicas. */
interface RedisSet {
  name: string;
  url: string;
  servers: readonly PrivateRedis[];
  /** The port of the master that the others, or the sentinels, agree on. */
  masterPort(): Promise<number>;
  /** Whether all others receive the master's data. */
  isWhole(): Promise<boolean>;
  command(words: readonly string[], master: PrivateRedis): Promise<unknown>;
  stop(): Promise<void>;
}

const failedOverWithinMs = 30_000;

async function startSet(kind: 'cluster' | 'sentinel', over: AbortSignal): Promise<Started> {
  const set = kind === 'cluster' ? await shardOfCluster() : await watched();
  const { name, url, servers } = set;
  const dead = new Set<PrivateRedis>();
  let master = servers[0] as PrivateRedis;

  async function findMaster(): Promise<PrivateRedis> {
    const port = await set.masterPort();
    return (master = servers.find((server) => server.port === port) ?? master);
  }

  async function kill(): Promise<void> {
    const killed = await findMaster();
    await killed.kill();
    dead.add(killed);
  }

  const unit: RedisUnit = {
    ...{ name, url, kill, stop: kill },
    redis: { command: async (...words) => set.command(words, await findMaster()) },
    stall: () => master.stall(),
    goOn() {
      for (const server of servers) server.goOn();
    },
    async start() {
      for (const server of dead) await stubbornly(name, over, server.restart);
      dead.clear();
      await findMaster();
    },
    async failOver() {
      await until('the replicas follow the master', set.isWhole, failedOverWithinMs);
      const before = await findMaster();
      await kill();
      await until('a replica is the master', async () => (await findMaster()) !== before, failedOverWithinMs);
    },
  };
  return { unit, rest: restOf(set.stop) };
}

const isUp = (info: unknown) => String(info).includes('master_link_status:up');

/** The first of three masters, and its replica. */
async function shardOfCluster(): Promise<RedisSet> {
  const cluster = await startRedisCluster();
  const [first, other, third] = cluster.masters as [PrivateRedis, PrivateRedis, PrivateRedis];
  const servers = [first, cluster.replica];
  const masterPort = async () => masterAmong(servers, String(await other.command('cluster', 'nodes')));
  return {
    ...{ name: 'redis 1 of the cluster', url: cluster.url, servers, masterPort, stop: cluster.stop },
    async isWhole() {
      const port = await masterPort();
      const replica = servers.find((server) => server.port !== port);
      return isUp(await replica?.command('info', 'replication'));
    },
    /** Asks the server that has the key. */
    async command(words, master) {
      for (const server of [master, other, third]) {
        const answer = await server.command(...words).catch((error: unknown) => error);
        if (!(answer instanceof Error && /^(?:MOVED|CLUSTERDOWN)/.test(answer.message))) return answer;
      }
      throw new Error(`No server of the cluster takes ${words.join(' ')}.`);
    },
  };
}

/** @param nodes of `CLUSTER NODES`: of a master a line has, behind its state, the slots. */
function masterAmong(servers: readonly PrivateRedis[], nodes: string): number {
  const lines = nodes.split('\n').map((line) => line.split(' '));
  const isMaster = ([, address = '', flags = '', , , , , , slots]: string[], port: number) =>
    address.includes(`:${port}@`) && /\bmaster\b/.test(flags) && slots !== undefined;
  return servers.find(({ port }) => lines.some((line) => isMaster(line, port)))?.port ?? 0;
}

async function watched(): Promise<RedisSet> {
  const { url, master, replicas, presentMaster, stop } = await startWatchedRedis();
  const servers = [master, ...replicas];
  return {
    ...{ name: 'redis under sentinels', url, servers, masterPort: presentMaster, stop },
    async isWhole() {
      const port = await presentMaster();
      const others = servers.filter((server) => server.port !== port);
      const states = await Promise.all(others.map((server) => server.command('info', 'replication')));
      return states.every(isUp);
    },
    /** A master that the sentinels have just replaced refuses writes: then its successor is asked. */
    async command(words, present) {
      const done = await untilThere('a master takes the command', async () => {
        const port = await presentMaster();
        const server = servers.find((each) => each.port === port) ?? present;
        const answer = await server.command(...words).catch((error: unknown) => error);
        return answer instanceof Error && answer.message.startsWith('READONLY') ? undefined : { answer };
      });
      if (done.answer instanceof Error) throw done.answer;
      return done.answer;
    },
  };
}

function restOf(stop: () => Promise<void>): Unit {
  const nothing = () => undefined;
  return {
    ...{ name: 'the rest of redis', kill: stop, stop, stall: nothing, goOn: nothing },
    start: () => Promise.resolve(),
  };
}
