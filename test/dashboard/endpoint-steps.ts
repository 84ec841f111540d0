// Actions of visitors on a webhook endpoint in its dialogs, and the server that receives its deliveries.
import { recordSecret } from '../run/traces.ts';
import { startReceiver, type Receiver } from '../webhooks/receiver.ts';
import type { Visitor } from './browser.ts';
import type { Stage } from './stage.ts';
import { assert } from './people.ts';
import type { Walk } from './walks.ts';

/** Runs a walk with a receiver of deliveries, which is closed after it. */
export const withReceiver =
  (walk: (stage: Stage, visitor: Visitor, receiver: Receiver) => Promise<void>): Walk['run'] =>
  async (stage, visitor) => {
    const receiver = await startReceiver();
    try {
      await walk(stage, visitor, receiver);
    } finally {
      await receiver.close();
    }
  };

/** Adds the endpoint of the filled dialog. @param during is done while the secret is shown. */
export async function addEndpoint(
  { page }: Visitor,
  during: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add the endpoint' }).click();
  const secret = recordSecret((await dialog.locator('[data-test=secret]').textContent()) ?? '');
  assert(secret.startsWith('whsec_'), 'the secret is shown');
  await during();
  await dialog.getByLabel('I have stored this secret').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
}

/** Sends a test event to the endpoint. @param during is done before its dialog is closed. */
export async function sendTestEvent({ page }: Visitor, during: () => Promise<void>): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: /^Manage/ }).click();
  await dialog.getByRole('button', { name: 'Send a test event' }).click();
  await dialog.getByText('A test event is on its way').waitFor();
  await during();
  await dialog.getByRole('button', { name: 'Close' }).click();
}
