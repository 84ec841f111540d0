// A webhook endpoint is created, a test event is seen and resent, and missed events are resent.
import { addEndpoint, sendTestEvent, withReceiver } from '../../endpoint-steps.ts';
import { assert, assertSame, newPerson, signUp } from '../../people.ts';
import type { Receiver } from '../../../webhooks/receiver.ts';
import type { Visitor } from '../../browser.ts';
import type { Stage } from '../../stage.ts';
import type { Walk } from '../../walks.ts';

export const webhooks: Walk = {
  name: 'make a webhook, see a test event, resend it',
  run: withReceiver(walk),
};

async function walk(stage: Stage, visitor: Visitor, receiver: Receiver): Promise<void> {
  const { page } = visitor;
  const { services } = stage;
  const person = newPerson();
  await signUp(stage, visitor, person);
  await page.getByRole('link', { name: 'Webhooks' }).click();
  await page.getByText('Webhooks come with a higher plan').waitFor();
  await visitor.look('webhooks-locked');
  const account = await services.accounts.db.accounts.findOne({ where: { email: person.email } });
  await services.setPlan(account?.id ?? '', 'pro');
  await page.reload();
  await page.getByText('No webhooks yet').waitFor();
  await visitor.look('webhooks-empty');

  await page.getByRole('button', { name: 'Add an endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Address').fill(receiver.url);
  const box = await dialog.getByLabel('Address').boundingBox();
  assert(box !== null, 'the field is there');
  await page.mouse.move(box.x + 40, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(1, box.y + box.height / 2);
  await page.mouse.up();
  assert(await dialog.isVisible(), 'a selection of text that ends outside does not close the dialog');
  await dialog.getByRole('checkbox', { name: 'key.created' }).check();
  await dialog.getByRole('button', { name: 'Sample of series.revised' }).click();
  await dialog.getByText('"type": "series.revised"').waitFor();
  await visitor.look('webhooks-new');
  await addEndpoint(visitor, async () => {
    await visitor.look('webhooks-secret');
    // As on http, where browsers have no clipboard.
    await page.evaluate(
      "Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })",
    );
    await dialog.getByRole('button', { name: 'Copy the secret' }).click();
    await dialog.getByText('Copied', { exact: true }).waitFor();
    await page.evaluate('delete navigator.clipboard');
  });

  // It is not retried automatically meanwhile.
  receiver.answer((_request, response) =>
    response.writeHead(500, { 'retry-after': '3600' }).end('The disk is full.'),
  );
  await sendTestEvent(visitor, () => visitor.look('webhooks-manage'));
  const first = await receiver.next();
  assertSame((JSON.parse(first.body) as { type: string }).type, 'webhook.test', 'the type of the event');
  await page.getByRole('button', { name: 'webhook.test' }).click();
  await page.getByText('The disk is full.').waitFor();
  await visitor.look('webhooks');
  receiver.answer(204);
  await page.getByRole('button', { name: 'Resend' }).click();
  const again = await receiver.next();
  assertSame(again.headers['webhook-id'], first.headers['webhook-id'], 'the id of the resent event');
  await page.getByText('Delivered', { exact: true }).first().waitFor();
  await page.getByRole('listitem').filter({ hasText: '204' }).waitFor();
  await page.getByLabel('Result', { exact: true }).selectOption('failed');
  await page.getByText('No deliveries').waitFor();
  await page.goBack();

  await page.getByRole('button', { name: 'Manage' }).click();
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await dialog.getByText('0 deliveries are being resent.').waitFor();
  await dialog.getByLabel('Resend missed events').selectOption('cursor');
  visitor.expectStatus(400);
  await dialog.getByLabel('Cursor').fill('999999999');
  await dialog.getByRole('button', { name: 'Resend' }).click();
  await dialog.getByText('No update has the cursor 999999999').waitFor();
  assertSame(await dialog.getByText('being resent').count(), 0, 'reports of an earlier success');
  await visitor.look('webhooks-recover');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await dialog.getByLabel(/Type/).fill(receiver.url.replace('http://', ''));
  await dialog.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('No webhooks yet').waitFor();
}
