// Webhook endpoints for tests, made by the API as a customer makes them.
import type { EventType } from '../../kernel/events/catalogue.ts';
import type { WebhookRecord } from '../../accounts-api/webhooks/webhook-fields.ts';
import { recordSecret } from '../run/traces.ts';
import type { AccountsService, Client } from '../services/accounts-service.ts';

export type NewWebhook = WebhookRecord & { secret: string };

export const someEvents: readonly EventType[] = ['series.updated', 'key.created'];

interface EndpointOptions {
  url?: string;
  events?: readonly EventType[];
  series?: readonly string[] | null;
  description?: string;
}

/** A new endpoint of an account, which hears of nothing that was before it. @throws Error if it is refused. */
export async function newWebhook(
  service: AccountsService,
  client: Client,
  options: EndpointOptions = {},
): Promise<NewWebhook> {
  await service.deps.db.sequelize.query('delete from events.outbox where account_id = $1', {
    bind: [client.accountId],
  }); // that its key was made
  const body = { url: 'https://hooks.example.org/in', events: someEvents, ...options };
  const answer = await service.as(client, '/v1/webhooks', { body });
  if (answer.status !== 201) throw new Error(`It was refused: ${JSON.stringify(answer.body)}`);
  const made = (answer.body as { data: NewWebhook }).data;
  recordSecret(made.secret);
  return made;
}
