// Tries everything that may happen, the shortest ways first.
import { apiSteps } from './api-steps.ts';
import { gatewaySteps, type Step } from './gateway-steps.ts';
import { brokenLaw } from './laws.ts';
import { pack } from './pack.ts';
import type { Rules } from './rules.ts';
import type { World } from './world.ts';

export interface Found {
  /** How many states there are. */
  readonly states: number;
  /** The law that is broken first, and the shortest way to it; null: none is. */
  readonly broken: { readonly law: string; readonly way: readonly string[] } | null;
}

/** @throws Error if there are more states than `statesMax`. */
export function explore(first: World, rules: Rules, statesMax = 200_000): Found {
  const known = new Set([pack(first)]);
  // Of each state the one before it, and the step between them.
  const before: number[] = [-1];
  const names: string[] = [''];
  let frontier: World[] = [first];
  let at = 0;
  while (frontier.length > 0) {
    const next: World[] = [];
    for (const world of frontier) {
      for (const [name, after] of stepsOf(world, rules)) {
        const size = known.size;
        if (known.add(pack(after)).size === size) continue;
        const law = brokenLaw(after, rules);
        if (law !== null)
          return { states: known.size, broken: { law, way: [...wayTo(at, before, names), name] } };
        before.push(at);
        names.push(name);
        next.push(after);
      }
      at += 1;
    }
    if (known.size > statesMax) throw new Error(`There are more than ${statesMax} states.`);
    frontier = next;
  }
  return { states: known.size, broken: null };
}

/** The state after the steps of these names. @throws Error if there is no such step. */
export function after(first: World, names: readonly string[], rules: Rules): World {
  return names.reduce((world, name) => {
    const step = stepsOf(world, rules).find(([each]) => each === name);
    if (step === undefined) throw new Error(`There is no step “${name}”.`);
    return step[1];
  }, first);
}

function stepsOf(world: World, rules: Rules): Step[] {
  const steps: Step[] = [];
  gatewaySteps(world, rules, steps);
  apiSteps(world, rules, steps);
  return steps;
}

function wayTo(state: number, before: readonly number[], names: readonly string[]): string[] {
  const way: string[] = [];
  for (let at = state; at > 0; at = before[at] ?? 0) way.unshift(names[at] ?? '');
  return way;
}
