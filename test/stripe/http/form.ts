// Stripe's form encoding: `a[b][0][c]=v` becomes a tree. Readers get values from it and refuse those of the wrong form.
import { invalid } from './errors.ts';

/** Lists are tables whose names are 0, 1, 2, …; every leaf is text. */
export interface Form {
  [name: string]: string | Form;
}
export type Path = [string, ...(string | number)[]];

export function parseForm(encoded: string): Form {
  const form = table();
  for (const [name, value] of new URLSearchParams(encoded)) {
    const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
    if (!match) throw invalid(`Invalid parameter name: ${name}`, { param: name });
    const inner = [...match[2]!.matchAll(/\[([^[\]]*)\]/g)].map(([, part]) => part!);
    put(form, [match[1]!, ...inner], value, name);
  }
  return form;
}

function put(form: Form, path: string[], value: string, name: string): void {
  const last = path.pop()!;
  let at = form;
  for (const part of path) {
    const next = (at[part] ??= table());
    if (typeof next === 'string') throw invalid(`Invalid object: ${name}`, { param: name });
    at = next;
  }
  at[last === '' ? String(Object.keys(at).length) : last] = value;
}

/** Without a prototype, so that no name is special. */
const table = (): Form => Object.create(null) as Form;

/** The name of a parameter as Stripe writes it in errors: `line_items[0][price]`. */
const nameOf = ([first, ...rest]: Path): string => first + rest.map((part) => `[${part}]`).join('');

function at(form: Form, path: Path): string | Form | undefined {
  let found: string | Form | undefined = form;
  for (const part of path) found = typeof found === 'object' ? found[part] : undefined;
  return found;
}

/** Text; absent and empty are both undefined. */
export function text(form: Form, ...path: Path): string | undefined {
  const value = at(form, path);
  if (typeof value === 'object') throw invalid(`Invalid string: ${nameOf(path)}`, { param: nameOf(path) });
  return value === '' ? undefined : value;
}

export function required(form: Form, ...path: Path): string {
  const value = text(form, ...path);
  if (value !== undefined) return value;
  throw invalid(`Missing required param: ${nameOf(path)}.`, {
    code: 'parameter_missing',
    param: nameOf(path),
  });
}

export function integer(form: Form, ...path: Path): number | undefined {
  const value = text(form, ...path);
  if (value === undefined || /^-?\d{1,15}$/.test(value))
    return value === undefined ? undefined : Number(value);
  throw invalid(`Invalid integer: ${value}`, { code: 'parameter_invalid_integer', param: nameOf(path) });
}

export function flag(form: Form, ...path: Path): boolean | undefined {
  const value = text(form, ...path);
  if (value === undefined || value === 'true' || value === 'false')
    return value === undefined ? undefined : value === 'true';
  throw invalid(`Invalid boolean: ${value}`, { param: nameOf(path) });
}

export function oneOf<T extends string>(form: Form, allowed: readonly T[], ...path: Path): T | undefined {
  const value = text(form, ...path);
  const found = allowed.find((name) => name === value);
  if (value === undefined || found !== undefined) return found;
  throw invalid(`Invalid ${nameOf(path)}: must be one of ${allowed.join(', ')}`, { param: nameOf(path) });
}

/** The entries of a list; [] if it is absent. */
export function list(form: Form, ...path: Path): (string | Form)[] {
  const value = at(form, path);
  if (typeof value === 'string') throw invalid(`Invalid array`, { param: nameOf(path) });
  return Object.values(value ?? {});
}

/** `before` with the changes of the request; an empty value removes a name, an empty table removes all. */
export function metadata(form: Form, before: Record<string, string>, ...path: Path): Record<string, string> {
  const given = at(form, path);
  if (typeof given === 'string') return {};
  const after = { ...before };
  for (const [name, value] of Object.entries(given ?? {})) {
    if (typeof value !== 'string')
      throw invalid('Metadata values must be strings', { param: nameOf([...path, name]) });
    if (value === '') delete after[name];
    else after[name] = value;
  }
  return after;
}

/** Refuses names that are not in `accepted`: a parameter that the fake does not know is never ignored. */
export function refuseOthers(form: Form, accepted: readonly string[]): void {
  const unknown = Object.keys(form).find((name) => name !== 'expand' && !accepted.includes(name));
  if (unknown === undefined) return;
  throw invalid(
    `Received unknown parameter: ${unknown} (or one that this fake of Stripe does not implement)`,
    {
      code: 'parameter_unknown',
      param: unknown,
    },
  );
}
