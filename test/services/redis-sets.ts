// Sets of private Redis servers for tests: a cluster of three masters, and a master with replicas watched by sentinels.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from 'redis';
import { freePort } from './instance.ts';
import { startServing } from '../run/processes.ts';
import { startRedis, type PrivateRedis } from './redis.ts';
import { until } from '../run/until.ts';

export interface RedisCluster {
  /** In the format of REDIS_URL. */
  url: string;
  masters: PrivateRedis[];
  /** The replica of the first master. */
  replica: PrivateRedis;
  stop(): Promise<void>;
}

const slots = 16_384;

/** Three masters, and a replica of the first. */
export async function startRedisCluster(): Promise<RedisCluster> {
  const servers: PrivateRedis[] = [];
  try {
    for (let i = 0; i < 4; i += 1) {
      const bus = String(await freePort());
      servers.push(
        await startRedis('--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', bus),
      );
    }
    const [first, second, third, replica] = servers as [
      PrivateRedis,
      PrivateRedis,
      PrivateRedis,
      PrivateRedis,
    ];
    const masters = [first, second, third];
    for (const [i, master] of masters.entries()) {
      const [from, to] = [Math.floor((i * slots) / 3), Math.floor(((i + 1) * slots) / 3) - 1];
      await master.command('cluster', 'set-config-epoch', String(i + 1));
      await master.command('cluster', 'addslotsrange', String(from), String(to));
    }
    for (const other of [second, third, replica]) {
      const bus = (await other.command('config', 'get', 'cluster-port')) as Record<string, string>;
      const busPort = bus['cluster-port'] ?? '';
      await first.command('cluster', 'meet', '127.0.0.1', String(other.port), busPort);
    }
    const id = String(await first.command('cluster', 'myid'));
    await until('the replica knows its master', async () => {
      return String(await replica.command('cluster', 'nodes')).includes(id);
    });
    await replica.command('cluster', 'replicate', id);
    for (const server of servers) {
      await until('a server of the cluster knows all others', async () => {
        const isWell = String(await server.command('cluster', 'info')).includes('cluster_state:ok');
        return isWell && nodesKnown(await server.command('cluster', 'nodes')) === servers.length;
      });
    }
    await until('the replica follows its master', () => follows(replica));
    return {
      url: `redis+cluster://${masters.map(({ port }) => `127.0.0.1:${port}`).join()}`,
      masters,
      replica,
      stop: () => stopAll(servers),
    };
  } catch (error) {
    await stopAll(servers);
    throw error;
  }
}

/** Whether it is a replica that is connected to its master. */
export async function follows(replica: PrivateRedis): Promise<boolean> {
  return String(await replica.command('info', 'replication')).includes('master_link_status:up');
}

function nodesKnown(answer: unknown): number {
  return String(answer)
    .trim()
    .split('\n')
    .filter((line) => line.includes(' connected')).length;
}

export interface WatchedRedis {
  /** In the format of REDIS_URL. */
  url: string;
  master: PrivateRedis;
  replicas: PrivateRedis[];
  /** The port of the server that the sentinels regard as the master. */
  presentMaster(): Promise<number>;
  stop(): Promise<void>;
}

/** A master, two replicas, and three sentinels that promote a replica once the master has been silent for half a second. */
export async function startWatchedRedis(): Promise<WatchedRedis> {
  const servers: PrivateRedis[] = [];
  const sentinels: Sentinel[] = [];
  const stop = async () => {
    for (const sentinel of sentinels) await sentinel.stop();
    await stopAll(servers);
  };
  try {
    const master = await startRedis();
    servers.push(master);
    for (let i = 0; i < 2; i += 1) {
      servers.push(
        await startRedis('--replicaof', `127.0.0.1 ${master.port}`, '--repl-diskless-sync-delay', '0'),
      );
    }
    const [, ...replicas] = servers;
    for (const replica of replicas) {
      await until('a replica follows the master', () => follows(replica));
    }
    for (let i = 0; i < 3; i += 1) sentinels.push(await startSentinel(master.port));
    const [sentinel] = sentinels as [Sentinel];
    for (const each of sentinels) {
      await until('a sentinel knows the others and both replicas', async () => {
        return /slaves=2,sentinels=3/.test(String(await each.command('info', 'sentinel')));
      });
    }
    return {
      url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/almanac`,
      master,
      replicas,
      async presentMaster() {
        const [, port] = (await sentinel.command(
          'sentinel',
          'get-master-addr-by-name',
          'almanac',
        )) as string[];
        return Number(port);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Sentinel {
  port: number;
  command(...words: string[]): Promise<unknown>;
  stop(): Promise<void>;
}

async function startSentinel(masterPort: number): Promise<Sentinel> {
  const port = await freePort();
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-sentinel-'));
  const file = path.join(directory, 'sentinel.conf'); // the sentinel writes its state to it
  writeFileSync(
    file,
    `port ${port}\nbind 127.0.0.1\ndir ${directory}\nsentinel monitor almanac 127.0.0.1 ${masterPort} 2
sentinel down-after-milliseconds almanac 500\nsentinel failover-timeout almanac 3000\n`,
  );
  const remove = () => rmSync(directory, { recursive: true, force: true });
  const server = await startServing(/\+monitor master/, 'redis-server', [file, '--sentinel'], {
    name: 'sentinel',
  }).catch((error: unknown) => {
    remove();
    throw error;
  });
  return {
    port,
    async command(...words) {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      client.on('error', () => undefined); // reported by connect as well
      try {
        await client.connect();
        return await client.sendCommand(words);
      } finally {
        client.destroy();
      }
    },
    async stop() {
      await server.end('SIGKILL');
      remove();
    },
  };
}

async function stopAll(servers: readonly PrivateRedis[]): Promise<void> {
  for (const server of servers) await server.stop();
}
