// How an endpoint of the fake of Stripe is declared, and how its lists are paged and its answers expanded.
import type { Stripe } from 'stripe';
import { invalid, noSuch } from './errors.ts';
import { integer, list, text, type Form, type Path } from './form.ts';
import { copy, type World } from '../world.ts';

export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** `:id` represents one segment, which `run` gets. */
  path: string;
  accepts: readonly string[];
  run(world: World, form: Form, id: string): object;
}

/** Names of parameters, checked against the SDK's type of them. */
export const names = <P>(...accepted: (keyof P & string)[]): readonly (keyof P & string)[] => accepted;

/** The part of a list that `limit` (10), `starting_after` and `ending_before` ask for; newest first, as all of Stripe's lists. */
export function page<T extends { id: string }>(
  form: Form,
  oldestFirst: Iterable<T>,
  url: string,
): Stripe.ApiList<T> {
  const limit = integer(form, 'limit') ?? 10;
  if (limit < 1 || limit > 100) throw invalid('Invalid integer: limit must be 1 to 100', { param: 'limit' });
  const all = [...oldestFirst].reverse();
  const find = (...path: Path): number | undefined => {
    const id = text(form, ...path);
    if (id === undefined) return undefined;
    const index = all.findIndex((object) => object.id === id);
    if (index < 0) throw noSuch('object', id, path[0]);
    return index;
  };
  const before = find('ending_before');
  if (before !== undefined) {
    const from = Math.max(0, before - limit);
    return { object: 'list', data: all.slice(from, before), has_more: from > 0, url };
  }
  const from = (find('starting_after') ?? -1) + 1;
  return { object: 'list', data: all.slice(from, from + limit), has_more: from + limit < all.length, url };
}

/** True if `created` fits `created=` or `created[gte]=` and its like. */
export function createdFits(form: Form, created: number): boolean {
  if (typeof form['created'] !== 'object') return (integer(form, 'created') ?? created) === created;
  const { created: range } = { created: form['created'] };
  const bound = (name: string, otherwise: number): number => integer(range, name) ?? otherwise;
  return (
    created >= bound('gte', -Infinity) &&
    created > bound('gt', -Infinity) &&
    created <= bound('lte', Infinity) &&
    created < bound('lt', Infinity)
  );
}

type Json = { [name: string]: unknown };
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** A copy of the answer in which every path of `expand` is filled in. */
export function render(world: World, answer: object, form: Form): object {
  const rendered = copy(answer);
  for (const path of list(form, 'expand')) {
    if (typeof path !== 'string') throw invalid('Invalid string: expand', { param: 'expand' });
    if (path.split('.').length > 4)
      throw invalid('You cannot expand more than 4 levels of a property', { param: 'expand' });
    expand(world, rendered as Json, path.split('.'), path);
  }
  return rendered;
}

function expand(world: World, at: Json, [name = '', ...rest]: string[], path: string): void {
  const refused = (): Error => invalid(`This property cannot be expanded (${path}).`, { param: 'expand' });
  const filled = at[name] === undefined ? included(world, at, name) : at[name];
  if (filled === undefined) throw refused();
  const found = typeof filled === 'string' ? named(world, name, filled) : filled;
  if (found === undefined || (rest.length === 0 && found === at[name] && found !== null)) throw refused();
  at[name] = found;
  for (const inner of Array.isArray(found) ? found : [found])
    if (isObject(inner) && rest.length > 0) expand(world, inner, rest, path);
}

/** Fields that are sent only on request. */
function included(world: World, at: Json, name: string): unknown {
  const id = String(at['id']);
  if (at['object'] === 'checkout.session' && name === 'line_items')
    return copy({
      object: 'list',
      data: world.lineItems.get(id),
      has_more: false,
      url: `/v1/checkout/sessions/${id}/line_items`,
    });
  if (at['object'] !== 'customer' || name !== 'subscriptions') return undefined;
  const data = [...world.subscriptions.values()].filter(
    (one) => one.customer === id && one.status !== 'canceled',
  );
  return copy({ object: 'list', data, has_more: false, url: `/v1/customers/${id}/subscriptions` });
}

function named(world: World, name: string, id: string): object | undefined {
  const stores: Record<string, Map<string, object>> = {
    customer: world.customers,
    subscription: world.subscriptions,
    invoice: world.invoices,
    latest_invoice: world.invoices,
    price: world.prices,
    product: world.products,
    default_price: world.prices,
  };
  const found = stores[name]?.get(id);
  return found && copy(found);
}
