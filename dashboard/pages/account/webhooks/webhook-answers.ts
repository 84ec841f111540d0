// The API's answers about webhook endpoints, and the state of their page.
import type { Row } from '../../../api/rows.ts';

export type Webhook = Row<'/v1/webhooks'>;
export type Delivery = Row<'/v1/webhooks/{id}/deliveries'>;

/** Changes the state of the page; undefined values are removed from the URL. */
export type Show = (wanted: Readonly<Record<string, string | undefined>>) => void;
