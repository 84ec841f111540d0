// Prints the table of the gateway bench, and its ratios with their goals. The best round of each counts, as other work on the machine only adds time.
import { print } from '../instruments/figures.ts';
import type { Measured } from './load.ts';
import { names } from './targets.ts';

/** The results of all rounds, by the name of the target. */
export interface Results {
  /** At full load. */
  full: ReadonlyMap<string, readonly Measured[]>;
  /** At the same steady rate for all, below the maximum of any of them. */
  paced: ReadonlyMap<string, readonly Measured[]>;
  /** Bytes allocated on V8's heap per call. */
  allocated: ReadonlyMap<string, number>;
}

type Best = Omit<Measured, 'requests'>;

export function best(rounds: readonly Measured[] | undefined): Best | undefined {
  if (rounds === undefined || rounds.length === 0) return undefined;
  const least = (of: (round: Measured) => number) => Math.min(...rounds.map(of));
  return {
    requestsPerSecond: -least((round) => -round.requestsPerSecond),
    p50Ms: least((round) => round.p50Ms),
    p99Ms: least((round) => round.p99Ms),
    cpuUsPerRequest: least((round) => round.cpuUsPerRequest),
    systemCpuUsPerRequest: least((round) => round.systemCpuUsPerRequest),
  };
}

export function report({ full, paced, allocated }: Results): void {
  printTable('at full load, the best of the rounds', full);
  if (paced.size > 0) printTable(`paced at half of that of "${names.hot}"`, paced);
  print('');
  for (const [name, bytes] of allocated)
    print(`${name}: ${(bytes / 1024).toFixed(1)} KiB allocated on V8's heap for each call`);
  print('');
  const of = (name: string) => best(full.get(name));
  const ofPaced = (name: string) => best(paced.get(name));
  for (const line of [
    ...goalsOfHot(of),
    ...goalsOfOthers(of),
    ...goalsAgainstBefore(of),
    ...goalsOfPaced(ofPaced),
  ])
    print(line);
}

function printTable(title: string, results: ReadonlyMap<string, readonly Measured[]>): void {
  const widths = [42, 9, 9, 9, 13, 13];
  const row = (cells: readonly string[]) =>
    print(
      cells
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join(''),
    );
  print('');
  row([title, 'req/s', 'p50 ms', 'p99 ms', 'CPU µs/call', 'of all, µs']);
  for (const [name, rounds] of results) {
    const found = best(rounds);
    if (found === undefined) continue;
    const { requestsPerSecond, p50Ms, p99Ms, cpuUsPerRequest, systemCpuUsPerRequest } = found;
    const [cpu, all] = [cpuUsPerRequest.toFixed(1), systemCpuUsPerRequest.toFixed(1)];
    row([name, requestsPerSecond.toFixed(0), p50Ms.toFixed(2), p99Ms.toFixed(2), cpu, all]);
  }
}

type Find = (name: string) => Best | undefined;

/** Hot calls against nginx, by requests, by CPU, and by the CPU of all. */
function goalsOfHot(of: Find): string[] {
  const lines: string[] = [];
  const rivals = [
    [names.hot, names.lua, 'least'],
    [names.hot, names.luaCached, 'least'],
    [names.hotMany, names.luaMany, 'least'],
    [names.hotAlone, names.lua, 'least'],
    [names.hotSystem, names.luaSystem, 'system'],
    [names.hotSystem, names.luaCachedSystem, 'stated'],
    [names.hotAloneSystem, names.luaSystem, 'system'],
    [names.hot, names.stock, 'twice'],
  ] as const;
  for (const [mine, theirs, goal] of rivals) {
    const [ours, rival] = [of(mine), of(theirs)];
    if (ours === undefined || rival === undefined) continue;
    const pair = `${mine} against ${theirs}`;
    if (goal === 'system' || goal === 'stated') {
      const ratio = ours.systemCpuUsPerRequest / rival.systemCpuUsPerRequest;
      lines.push(
        goalLine(
          `${pair}: CPU of all`,
          `${ratio.toFixed(2)}×`,
          goal === 'system' ? ['≤ 0.7×', ratio <= 0.7] : undefined,
        ),
      );
      continue;
    }
    const speed = ours.requestsPerSecond / rival.requestsPerSecond;
    const cpu = rival.cpuUsPerRequest / ours.cpuUsPerRequest;
    const [text, least] = goal === 'twice' ? ['≥ 2×', 2] : ['≥ 1.0×, aim 1.2×', 1];
    lines.push(goalLine(`${pair}: requests/s`, `${speed.toFixed(2)}×`, [text, speed >= least]));
    lines.push(goalLine(`${pair}: by CPU`, `${cpu.toFixed(2)}×`, [text, cpu >= least]));
  }
  return lines;
}

/** In turn with the previous version: BENCH_BEFORE. */
function goalsAgainstBefore(of: Find): string[] {
  const pairs = [
    [names.hot, names.before, '≥ 1.15×', 1.15],
    [names.hotMany, names.beforeMany, '≥ 1.5×', 1.5],
    [names.hotAlone, names.beforeAlone, '≥ 1.0×', 1],
    [names.hotManyAlone, names.beforeManyAlone, '≥ 1.0×', 1],
    [names.hotMany, names.hot, '≥ 0.8×', 0.8],
    [names.hotAlone, names.hot, '≥ 0.95×', 0.95],
  ] as const;
  const lines = pairs.flatMap(([mine, theirs, text, least]) => {
    const [ours, other] = [of(mine), of(theirs)];
    if (ours === undefined || other === undefined) return [];
    const speed = ours.requestsPerSecond / other.requestsPerSecond;
    const cpu = other.cpuUsPerRequest / ours.cpuUsPerRequest;
    return [
      goalLine(`${mine} against ${theirs}: requests/s`, `${speed.toFixed(2)}×`, [text, speed >= least]),
      goalLine(`${mine} against ${theirs}: by CPU`, `${cpu.toFixed(2)}×`, [text, cpu >= least]),
    ];
  });
  const [ours, other] = [of(names.newAccounts), of(names.beforeNewAccounts)];
  if (ours !== undefined && other !== undefined) {
    const ratio = ours.systemCpuUsPerRequest / other.systemCpuUsPerRequest;
    lines.push(
      goalLine(`${names.newAccounts} against before: CPU of all`, `${ratio.toFixed(2)}×`, [
        '≤ 1.0×',
        ratio <= 1,
      ]),
    );
  }
  return lines;
}

/** Cold calls compared with no cache, many accounts with one, and runs without Redis. */
function goalsOfOthers(of: Find): string[] {
  const lines: string[] = [];
  const pairs = [
    [names.cold, names.uncached, '≥ 0.97×', 0.97],
    [names.hotMany, names.hot, '≥ 0.85×', 0.85],
    [names.hotManyAlone, names.hotAlone, '≥ 0.85×', 0.85],
  ] as const;
  for (const [mine, theirs, text, least] of pairs) {
    const [ours, other] = [of(mine), of(theirs)];
    if (ours === undefined || other === undefined) continue;
    const speed = ours.requestsPerSecond / other.requestsPerSecond;
    const cpu = other.cpuUsPerRequest / ours.cpuUsPerRequest;
    lines.push(
      goalLine(`${mine} against ${theirs}: requests/s`, `${speed.toFixed(2)}×`, [text, speed >= least]),
    );
    lines.push(goalLine(`${mine} against ${theirs}: by CPU`, `${cpu.toFixed(2)}×`, [text, cpu >= least]));
  }
  const alone = of(names.hotAlone);
  if (alone !== undefined) {
    const { requestsPerSecond: speed, p50Ms } = alone;
    lines.push(goalLine(`${names.hotAlone}: requests/s`, speed.toFixed(0), ['≥ 10000', speed >= 10_000]));
    lines.push(goalLine(`${names.hotAlone}: p50`, `${p50Ms.toFixed(2)} ms`, ['< 2 ms', p50Ms < 2]));
  }
  return lines;
}

function goalsOfPaced(of: Find): string[] {
  const direct = of(names.direct);
  if (direct === undefined) return [];
  return [names.hot, names.hotAlone, names.lua].flatMap((name) => {
    const found = of(name);
    if (found === undefined) return [];
    const moreMs = found.p99Ms - direct.p99Ms;
    const goal = name === names.lua ? undefined : (['< 1 ms', moreMs < 1] as const);
    return goalLine(`${name}: p99 above direct, paced`, `${moreMs.toFixed(2)} ms`, goal);
  });
}

function goalLine(
  what: string,
  value: string,
  goal: readonly [text: string, isMet: boolean] | undefined,
): string {
  const [text, isMet] = goal ?? ['none', undefined];
  const verdict = isMet === undefined ? '' : isMet ? 'met' : 'MISSED';
  return `${what.padEnd(86)}${value.padStart(10)}   goal ${text.padEnd(18)}${verdict}`;
}
