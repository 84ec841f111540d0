// The API's answers about webhook endpoints.
import type { Row } from '../../../api/rows.ts';

export type Webhook = Row<'/v1/webhooks'>;
export type Delivery = Row<'/v1/webhooks/{id}/deliveries'>;
