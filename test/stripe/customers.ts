// Customers: who pays. Deleting one cancels its subscriptions.
import type { Stripe } from 'stripe';
import { invalid } from './http/errors.ts';
import { metadata, text, type Form } from './http/form.ts';
import { cancelNow } from './subscriptions.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import { change, emit, findObject, liveCustomer, now, type World } from './world.ts';

/** A new customer, without a card. */
export function createCustomer(
  world: World,
  fields: Partial<Pick<Stripe.Customer, 'email' | 'name' | 'description' | 'metadata' | 'phone'>>,
): Stripe.Customer {
  const id = world.newId('cus');
  const customer: Stripe.Customer = {
    id,
    object: 'customer',
    address: null,
    balance: 0,
    created: now(world),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: null,
      footer: null,
      rendering_options: null,
    },
    livemode: world.livemode,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
    ...fields,
  };
  world.customers.set(id, customer);
  world.cards.set(id, 'none');
  emit(world, 'customer.created', customer);
  return customer;
}

/** The fields that a request sets; an empty value unsets one. */
function given(form: Form, before: Record<string, string>): Parameters<typeof createCustomer>[1] {
  const email = text(form, 'email');
  if (email !== undefined && !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid(`Invalid email address: ${email}`, { code: 'email_invalid', param: 'email' });
  const fields: ReturnType<typeof given> = {};
  for (const name of ['email', 'name', 'description', 'phone'] as const)
    if (form[name] !== undefined) fields[name] = text(form, name) ?? null;
  if (form['metadata'] !== undefined) fields.metadata = metadata(form, before, 'metadata');
  return fields;
}

export const customerRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/customers',
    accepts: names<Stripe.CustomerCreateParams>('email', 'name', 'description', 'phone', 'metadata'),
    run: (world, form) => createCustomer(world, given(form, {})),
  },
  {
    method: 'GET',
    path: '/v1/customers',
    accepts: names<Stripe.CustomerListParams>('email', 'created', 'limit', 'starting_after', 'ending_before'),
    run(world, form) {
      const email = text(form, 'email');
      const fitting = [...world.customers.values()]
        .filter((customer) => customer.deleted !== true)
        .filter(
          (customer) => customer.email === (email ?? customer.email) && createdFits(form, customer.created),
        );
      return page(form, fitting, '/v1/customers');
    },
  },
  {
    method: 'GET',
    path: '/v1/customers/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.customers, 'customer', id),
  },
  {
    method: 'POST',
    path: '/v1/customers/:id',
    accepts: names<Stripe.CustomerUpdateParams>('email', 'name', 'description', 'phone', 'metadata'),
    run(world, form, id) {
      const customer = liveCustomer(world, id);
      return change(world, customer, given(form, customer.metadata), 'customer.updated');
    },
  },
  {
    method: 'DELETE',
    path: '/v1/customers/:id',
    accepts: [],
    run(world, _form, id) {
      const customer = liveCustomer(world, id);
      for (const subscription of world.subscriptions.values())
        if (subscription.customer === id && !subscription.ended_at) cancelNow(world, subscription);
      const deleted: Stripe.DeletedCustomer = { id, object: 'customer', deleted: true };
      world.customers.set(id, deleted);
      emit(world, 'customer.deleted', customer);
      return deleted;
    },
  },
];
