// Starts the targets of the bench: each gateway in front of the bare upstream, which isolates it, and in front of data-api with its database.
import path from 'node:path';
import { allocationProbe, type AllocationProbe } from './allocation.ts';
import { startBefore, type Before } from './before.ts';
import { install, startStock } from './express-gateway.ts';
import { accountCount, layGround, sealed, seriesPath, type Ground, type Run } from './ground.ts';
import type { Target } from './load.ts';
import { startLuaGateway } from './nginx.ts';
import { targetCore, type Program } from './processes.ts';

const manyAccounts = `, ${accountCount} accounts`;
const luaName = 'nginx + Lua';
const cachedLuaName = 'nginx + Lua + proxy_cache';
const toDataApi = ' → data-api';
const newAccountsOfRound = 10_000;

/** The names of the targets that are compared. */
export const names = {
  direct: 'direct: the upstream',
  floor: 'floor: bare proxy in Node',
  hot: 'almanac: hot',
  hotMany: `almanac: hot${manyAccounts}`,
  cold: 'almanac: cold',
  coldMany: `almanac: cold${manyAccounts}`,
  uncached: 'almanac: RESPONSE_CACHE_MB=0',
  hotAlone: 'almanac, no Redis: hot',
  hotManyAlone: `almanac, no Redis: hot${manyAccounts}`,
  coldAlone: 'almanac, no Redis: cold',
  newAccounts: 'almanac: new accounts all the time',
  before: 'before: hot',
  beforeMany: `before: hot${manyAccounts}`,
  beforeAlone: 'before, no Redis: hot',
  beforeManyAlone: `before, no Redis: hot${manyAccounts}`,
  beforeNewAccounts: 'before: new accounts all the time',
  lua: luaName,
  luaMany: luaName + manyAccounts,
  luaCached: cachedLuaName,
  luaCachedMany: cachedLuaName + manyAccounts,
  stock: 'stock express-gateway',
  dataApi: 'direct: data-api',
  hotSystem: `almanac: hot${toDataApi}`,
  hotAloneSystem: `almanac, no Redis: hot${toDataApi}`,
  uncachedSystem: `almanac: RESPONSE_CACHE_MB=0${toDataApi}`,
  luaSystem: luaName + toDataApi,
  luaCachedSystem: cachedLuaName + toDataApi,
} as const;

export interface Targets {
  ground: Ground;
  targets: Target[];
  /** By name, for targets that report their allocations. */
  allocations: Map<string, AllocationProbe>;
}

/** Starts all targets, or those whose name contains one of the words. */
export async function startTargets(run: Run, onlyNamed: readonly string[] | undefined): Promise<Targets> {
  const isWanted = (name: string) => onlyNamed === undefined || onlyNamed.some((word) => name.includes(word));
  const stockDirectory = process.env['BENCH_EXPRESS_GATEWAY'] ?? path.join(run.directory, 'express-gateway');
  const installing = isWanted(names.stock) ? install(stockDirectory) : undefined; // the other targets start meanwhile

  const before = process.env['BENCH_BEFORE'];
  const ground = await layGround(run);
  const almanac = await almanacTargets(run, ground);
  const targets = [
    ...(await directTargets(run, ground)),
    ...almanac.targets,
    ...(before === undefined ? [] : beforeTargets(await startBefore(run, ground, before), ground)),
    ...(await luaTargets(run, ground)),
    ...(installing && (await installing) ? [await stockTarget(run, ground, stockDirectory)] : []),
  ];
  const order = Object.values<string>(names);
  return {
    ground,
    targets: targets
      .filter(({ name }) => isWanted(name))
      .toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
    allocations: almanac.allocations,
  };
}

async function directTargets(run: Run, { upstream, dataApi, postgres }: Ground): Promise<Target[]> {
  const floorArgs = [path.join(import.meta.dirname, 'floor.ts'), upstream.url];
  const floor = await run.startNode(targetCore, floorArgs);
  const headers = () => [{}];
  const url = (origin: string) => origin + seriesPath;
  return [
    { name: names.direct, url: url(upstream.url), headers, pids: [upstream.pid], behind: [] },
    { name: names.floor, url: url(floor.readyOutput), headers, pids: [floor.pid], behind: [upstream.pid] },
    {
      ...{ name: names.dataApi, url: url(dataApi.readyOutput), headers: () => [sealed()] },
      ...{ pids: [dataApi.pid], behind: [postgres] },
    },
  ];
}

async function almanacTargets(run: Run, ground: Ground) {
  const { upstream, dataApi, accountsApi, redis, redisUrl, postgres } = ground;
  const targets: Target[] = [];
  const allocations = new Map<string, AllocationProbe>();
  const sets = ground.keys.map((key) => ({ 'x-api-key': key }));
  const one = sets.slice(0, 1);
  function add(
    name: string,
    { readyOutput, pid, probe }: Gateway,
    keys: typeof sets,
    behind: number[],
  ): void {
    const newUrls = name.includes(': cold') || name === names.uncached;
    const all = [accountsApi.pid, postgres, ...behind];
    targets.push({
      name,
      url: readyOutput + seriesPath,
      newUrls,
      headers: () => keys,
      pids: [pid],
      behind: all,
    });
    allocations.set(name, probe);
  }
  const withRedis = { REDIS_URL: redisUrl };
  const off = { ...withRedis, RESPONSE_CACHE_MB: '0' };
  const [toUpstream, toDataApi] = [{ DATA_API_URL: upstream.url }, { DATA_API_URL: dataApi.readyOutput }];

  const ours = await startGateway(run, ground, { ...withRedis, ...toUpstream });
  const behind = [redis.pid, upstream.pid];
  add(names.hot, ours, one, behind);
  add(names.hotMany, ours, sets, behind);
  add(names.cold, ours, one, behind);
  add(names.coldMany, ours, sets, behind);
  targets.push({
    ...{ name: names.newAccounts, url: ours.readyOutput + seriesPath, headers: newAccounts(ground) },
    ...{ pids: [ours.pid], behind: [accountsApi.pid, postgres, ...behind] },
  });
  add(names.uncached, await startGateway(run, ground, { ...off, ...toUpstream }), one, behind);
  const alone = await startGateway(run, ground, toUpstream);
  add(names.hotAlone, alone, one, [upstream.pid]);
  add(names.hotManyAlone, alone, sets, [upstream.pid]);
  add(names.coldAlone, alone, one, [upstream.pid]);
  const behindWhole = [redis.pid, dataApi.pid];
  add(names.hotSystem, await startGateway(run, ground, { ...withRedis, ...toDataApi }), one, behindWhole);
  add(names.uncachedSystem, await startGateway(run, ground, { ...off, ...toDataApi }), one, behindWhole);
  add(names.hotAloneSystem, await startGateway(run, ground, toDataApi), one, [dataApi.pid]);
  return { targets, allocations };
}

/** As many accounts as call in a round, each once or twice; the next round has others. */
function newAccounts({ newKeys }: Ground): () => Record<string, string>[] {
  let at = 0;
  return () => {
    const sets = newKeys.slice(at, at + newAccountsOfRound).map((key) => ({ 'x-api-key': key }));
    at = (at + newAccountsOfRound) % newKeys.length;
    return sets;
  };
}

function beforeTargets({ accountsApi, withRedis, alone }: Before, ground: Ground): Target[] {
  const { keys, postgres, redis, upstream } = ground;
  const sets = keys.map((key) => ({ 'x-api-key': key }));
  const behind = [accountsApi.pid, postgres, upstream.pid];
  const target = (name: string, gateway: Program, headers: Target['headers']): Target => ({
    ...{ name, url: gateway.readyOutput + seriesPath, headers, pids: [gateway.pid] },
    behind: gateway === alone ? behind : [...behind, redis.pid],
  });
  return [
    target(names.before, withRedis, () => sets.slice(0, 1)),
    target(names.beforeMany, withRedis, () => sets),
    target(names.beforeAlone, alone, () => sets.slice(0, 1)),
    target(names.beforeManyAlone, alone, () => sets),
    target(names.beforeNewAccounts, withRedis, newAccounts(ground)),
  ];
}

type Gateway = Program & { probe: AllocationProbe };
let gateways = 0;

/** With its access log. */
async function startGateway(run: Run, ground: Ground, more: Record<string, string>): Promise<Gateway> {
  gateways += 1;
  const probe = allocationProbe(path.join(run.directory, `allocated-${gateways}`));
  const env = {
    ...ground.env,
    PORT: '0',
    ACCOUNTS_API_URL: ground.accountsApi.readyOutput,
    LOG_LEVEL: 'info',
  };
  const own = { ...env, ...probe.env, ...more };
  return { ...(await run.startService(targetCore, 'gateway', own, probe.flags)), probe };
}

async function luaTargets(run: Run, ground: Ground): Promise<Target[]> {
  const { upstream, dataApi, redis, redisPort, postgres } = ground;
  const sets = ground.keys.map((key) => ({ 'x-api-key': key }));
  const start = async (name: string, upstreamUrl: string, cached: boolean) =>
    run.track(await startLuaGateway(run.directory, { name, upstreamUrl, redisPort, cached }));
  const targets: Target[] = [];
  for (const cached of [false, true]) {
    const bare = await start(cached ? 'lua-cached' : 'lua', upstream.url, cached);
    const isolated = { url: bare.url + seriesPath, pids: [bare.pid], behind: [redis.pid, upstream.pid] };
    const many = { name: cached ? names.luaCachedMany : names.luaMany, headers: () => sets };
    targets.push(
      { ...isolated, name: cached ? names.luaCached : names.lua, headers: () => sets.slice(0, 1) },
      { ...isolated, ...many },
    );
    const whole = await start(cached ? 'lua-cached-data-api' : 'lua-data-api', dataApi.readyOutput, cached);
    targets.push({
      ...{ name: cached ? names.luaCachedSystem : names.luaSystem, url: whole.url + seriesPath },
      // nginx forwards the headers that data-api requires, and seals nothing itself.
      headers: () => sets.slice(0, 1).map((set) => ({ ...set, ...sealed() })),
      ...{ pids: [whole.pid], behind: [redis.pid, dataApi.pid, postgres] },
    });
  }
  return targets;
}

async function stockTarget(run: Run, ground: Ground, directory: string): Promise<Target> {
  const { upstream, redis, redisPort } = ground;
  const stock = run.track(await startStock(directory, { upstreamUrl: upstream.url, redisPort }));
  const headers = [{ authorization: `apiKey ${stock.key}` }];
  return {
    ...{ name: names.stock, url: stock.url + seriesPath, headers: () => headers },
    ...{ pids: [stock.pid], behind: [redis.pid, upstream.pid] },
  };
}
