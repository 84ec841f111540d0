// The fields of a webhook endpoint as clients send and see them: their schemas, and its record.
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { eventTypes, type EventType } from '../../kernel/events/catalogue.ts';
import { refuseField } from '../../kernel/errors.ts';
import { faultText, isButText } from '../../kernel/http/params.ts';
import type { Webhook } from '../models/webhook.ts';
import { UrlRefused, urlLengthMax, type AddressGuard } from '../../kernel/outbound/address-guard.ts';

/** How many endpoints an account may have; the table has as many slots. */
export const webhooksMax = 10;
const seriesMax = 100;

/** The types that an endpoint can choose. A test event is sent to the endpoint that it was requested for, whatever it chose. */
const chosenTypes = eventTypes.filter((type) => type !== 'webhook.test') as [EventType, ...EventType[]];

const distinct = (values: readonly string[]) => new Set(values).size === values.length;
const eventsRule = `must be different types of events, some of ${chosenTypes.join(', ')}`;
const seriesRule = `must be 1 to ${seriesMax} different ids of series, or beginnings of ids with * at the end, such as CPI*`;
const seriesItemRule = 'must be the id of a series, or the beginning of ids with * at the end, such as CPI*';

const fields = {
  url: z
    .string({ error: 'must be a URL' })
    .max(urlLengthMax, `must have at most ${urlLengthMax} characters`)
    .describe('Where events are sent by POST.'),
  events: z
    .array(z.enum(chosenTypes, { error: `must be one of ${chosenTypes.join(', ')}` }), { error: eventsRule })
    .min(1, eventsRule)
    .refine(distinct, eventsRule)
    .describe('The types of events.'),
  series: z
    .array(
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\*?$/, {
        error: ({ input }) => isButText(String(input), seriesItemRule),
      }),
      { error: seriesRule },
    )
    .min(1, seriesRule)
    .max(seriesMax, seriesRule)
    .refine(distinct, seriesRule)
    .nullable()
    .describe(
      'Of events about series, only these: ids, or beginnings of ids with `*` at the end. Null: all.',
    ),
  description: z
    .string({ error: 'must be text' })
    .trim()
    .min(1, 'must have 1 to 200 characters')
    .max(200, 'must have 1 to 200 characters')
    // oxlint-disable-next-line no-control-regex
    .regex(/^[^\u0000-\u001f\u007f\p{Cs}]*$/u, 'must have no control characters')
    .nullable()
    .describe('For people.'),
};

export const newWebhook = z.strictObject({
  url: fields.url,
  events: fields.events,
  series: fields.series.default(null),
  description: fields.description.default(null),
});

export const webhookChange = z
  .strictObject({
    url: fields.url.optional(),
    events: fields.events.optional(),
    series: fields.series.optional(),
    description: fields.description.optional(),
    enabled: z
      .boolean({ error: 'must be true or false' })
      .optional()
      .describe('True also resets its record of failures.'),
  })
  .refine(
    (wish) => Object.values(wish).some((value) => value !== undefined),
    'must have "url", "events", "series", "description" or "enabled"',
  );
export type WebhookChange = z.output<typeof webhookChange>;

const instant = z.iso.datetime().nullable();
/** The fields of an endpoint that are always shown. */
export const webhookSchema = z.object({
  id: z.string(),
  url: fields.url,
  description: z.string().nullable(),
  events: z.array(z.enum(chosenTypes)),
  series: z
    .array(z.string())
    .nullable()
    .describe(fields.series.description ?? ''),
  status: z.enum(['enabled', 'disabled']).describe('A disabled endpoint is sent nothing.'),
  disabled_because: z
    .enum(['asked', 'failing', 'gone'])
    .nullable()
    .describe('You disabled it · every attempt of five days failed · it answered 410.'),
  disabled_at: instant,
  failing_since: instant.describe('The first failure since the last success.'),
  previous_secret_until: instant.describe('Until then messages are also signed with the previous secret.'),
  created_at: z.iso.datetime(),
});
export type WebhookRecord = z.output<typeof webhookSchema>;

/** With the secret, which is shown only once. */
export const webhookWithSecret = webhookSchema.extend({
  secret: z.string().optional().describe('`whsec_…`, which signatures are verified with.'),
});

/** The endpoint in the format of answers. */
export function webhookRecord(webhook: Webhook, now: Date): WebhookRecord {
  const { previousSecretUntil: until } = webhook;
  return {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    events: webhook.events,
    series: webhook.series,
    status: webhook.disabledAt === null ? 'enabled' : 'disabled',
    disabled_because: webhook.disabledBecause,
    disabled_at: webhook.disabledAt && instantText(webhook.disabledAt),
    failing_since: webhook.failingSince && instantText(webhook.failingSince),
    previous_secret_until: until !== null && until > now ? instantText(until) : null,
    created_at: instantText(webhook.createdAt),
  };
}

/**
 * The normalized URL, if events may be sent to it.
 * @throws Failure `invalid_body` that names the rule, and reveals nothing about the network.
 */
export async function checkedUrl(guard: AddressGuard, text: string): Promise<string> {
  try {
    const url = guard.parse(text);
    await guard.addressesOf(url);
    return url.href;
  } catch (error) {
    if (!(error instanceof UrlRefused)) throw error;
    return refuseField('url', faultText('url', error.message));
  }
}
