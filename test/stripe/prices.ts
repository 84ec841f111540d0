// Products and prices: made by the operator, listed by lookup key.
import { Stripe } from 'stripe';
import { flag, list, text } from './http/form.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import { findObject, now, type World } from './world.ts';

export interface NewPrice {
  id?: string;
  lookupKey?: string;
  /** In the smallest unit of the currency. */
  amount: number;
  currency?: string;
  interval?: 'month' | 'year';
  intervalCount?: number;
  /** Name of the product, which is created if it does not exist. */
  product?: string;
  active?: boolean;
}

export function addPrice(world: World, wanted: NewPrice): Stripe.Price {
  const { lookupKey = null, amount, currency = 'usd', interval = 'month' } = wanted;
  const product = productNamed(world, wanted.product ?? lookupKey ?? 'A plan');
  const price: Stripe.Price = {
    id: wanted.id ?? world.newId('price'),
    object: 'price',
    active: wanted.active ?? true,
    billing_scheme: 'per_unit',
    created: now(world),
    currency,
    custom_unit_amount: null,
    livemode: world.livemode,
    lookup_key: lookupKey,
    metadata: {},
    nickname: null,
    product: product.id,
    recurring: {
      interval,
      interval_count: wanted.intervalCount ?? 1,
      meter: null,
      trial_period_days: null,
      usage_type: 'licensed',
    },
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: 'recurring',
    unit_amount: amount,
    unit_amount_decimal: Stripe.Decimal.from(amount),
  };
  // A lookup key names one price: it moves to the new one.
  for (const other of world.prices.values())
    if (lookupKey !== null && other.lookup_key === lookupKey) other.lookup_key = null;
  world.prices.set(price.id, price);
  return price;
}

function productNamed(world: World, name: string): Stripe.Product {
  const found = [...world.products.values()].find((product) => product.name === name);
  if (found) return found;
  const product: Stripe.Product = {
    id: world.newId('prod'),
    object: 'product',
    active: true,
    created: now(world),
    description: null,
    images: [],
    livemode: world.livemode,
    marketing_features: [],
    metadata: {},
    name,
    package_dimensions: null,
    shippable: null,
    tax_details: null,
    type: 'service',
    updated: now(world),
    url: null,
  };
  world.products.set(product.id, product);
  return product;
}

export const priceRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/prices',
    accepts: names<Stripe.PriceListParams>(
      'active', 'created', 'currency', 'product', 'type', 'lookup_keys', 'limit', 'starting_after', 'ending_before',
    ), // prettier-ignore
    run(world, form) {
      const active = flag(form, 'active');
      const [currency, product, type] = [text(form, 'currency'), text(form, 'product'), text(form, 'type')];
      const keys = list(form, 'lookup_keys');
      const fitting = [...world.prices.values()].filter(
        (price) =>
          price.active === (active ?? price.active) &&
          price.currency === (currency ?? price.currency) &&
          price.product === (product ?? price.product) &&
          price.type === (type ?? price.type) &&
          (keys.length === 0 || keys.includes(price.lookup_key ?? '')) &&
          createdFits(form, price.created),
      );
      return page(form, fitting, '/v1/prices');
    },
  },
  {
    method: 'GET',
    path: '/v1/prices/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.prices, 'price', id),
  },
  {
    method: 'GET',
    path: '/v1/products',
    accepts: names<Stripe.ProductListParams>('active', 'limit', 'starting_after', 'ending_before'),
    run(world, form) {
      const active = flag(form, 'active');
      const fitting = [...world.products.values()].filter(
        (product) => product.active === (active ?? product.active),
      );
      return page(form, fitting, '/v1/products');
    },
  },
  {
    method: 'GET',
    path: '/v1/products/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.products, 'product', id),
  },
];
