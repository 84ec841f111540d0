// /dashboard: the steps to the first call, then the status of the account.
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { shownIn, useLoad } from '../../../api/use-load.ts';
import { usePoll } from '../../../api/poll.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { Facts } from '../../../components/facts.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { CheckIcon } from '../../../components/icons.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Waiting } from '../../../components/states.tsx';
import { shareText } from '../../../text/amounts.ts';
import { countText, numberText } from '../../../text/numbers.ts';
import { instantText, agoText } from '../../../text/times.ts';
import { accountPage, type OfAccount } from '../account-page.tsx';
import { FirstCallCode } from './first-call.tsx';
import { Meter } from '../usage/meter.tsx';

type Key = Row<'/v1/keys'>;

const pollEveryMs = 2_000;

export const AccountHome = accountPage((of) => (
  <>
    <PageHead title="Overview" lede={greeting(of.account.name)} />
    <Steps {...of} />
    <AccountStatus {...of} />
  </>
));

const greeting = (name: string | null) =>
  name === null ? 'Your account at a glance.' : `The account ${name} at a glance.`;

async function keys(signal: AbortSignal): Promise<Key[]> {
  return rowsOf(await accountApi.get('/v1/keys', { query: { limit: 1000 }, signal }));
}

/** The first key that was ever used, by the time of its last call. */
const firstUsed = (all: readonly Key[]): Key | undefined => all.find(({ last_used_at: at }) => at !== null);

function Steps({ account, reload }: OfAccount) {
  const loaded = useLoad(keys, []);
  const found = shownIn(loaded);
  const isWaiting = found !== undefined && firstUsed(found) === undefined;
  const watched = usePoll(isWaiting ? keys : null, pollEveryMs, []);
  return (
    <section class="steps-to-do" aria-labelledby="first-steps">
      <h2 id="first-steps">Three steps to your first number</h2>
      <Waiting for={loaded} failure="The keys could not be loaded">
        {(known) => <StepList keys={watched ?? known} account={account} reload={reload} />}
      </Waiting>
    </section>
  );
}

function StepList({ keys: all, account, reload }: OfAccount & { keys: readonly Key[] }) {
  const active = all.filter(({ status }) => status === 'active');
  const used = firstUsed(all);
  const newest = active.at(-1);
  return (
    <>
      <ol class="todo">
        <Step state={account.email_verified ? 'done' : 'open'} title="Confirm your e-mail address">
          {account.email_verified ? (
            `${account.email}, confirmed`
          ) : (
            <Resend account={account} reload={reload} />
          )}
        </Step>
        <Step state={all.length > 0 ? 'done' : 'open'} title="Create a key">
          {newest === undefined ? (
            <Link href="/dashboard/keys?create=key">Create a key</Link>
          ) : (
            `“${newest.name}”, ${instantText(newest.created_at)} UTC`
          )}
        </Step>
        <Step
          state={used !== undefined ? 'done' : all.length > 0 ? 'waiting' : 'open'}
          title="Make the first call"
        >
          <span aria-live="polite">
            {used?.last_used_at != null
              ? `Received. Last call: ${instantText(used.last_used_at)} UTC, with “${used.name}”`
              : 'Waiting for it. This line updates automatically.'}
          </span>
        </Step>
      </ol>
      {used === undefined && <FirstCallCode apiKey={undefined} />}
    </>
  );
}

interface StepProps {
  state: 'done' | 'waiting' | 'open';
  title: string;
  children: preact.ComponentChildren;
}

function Step({ state, title, children }: StepProps) {
  const mark = state === 'open' ? 'tick' : `tick ${state}`;
  return (
    <li>
      <span class={mark} aria-hidden="true">
        {state === 'done' && <CheckIcon />}
      </span>
      <div>
        <b>
          {title}
          {state === 'done' && <span class="vh">, done</span>}
        </b>
        <p>{children}</p>
      </div>
    </li>
  );
}

function Resend({ account, reload }: OfAccount) {
  const action = useAction();
  const send = () =>
    action.run(async () => {
      await accountApi.post('/auth/verify-email/resend');
      reload();
    });
  return (
    <>
      A link was sent to {account.email}
      {account.mail_refused_at === null
        ? '. '
        : ', but the e-mail was refused: check the address under Security. '}
      <button class="btn sml" type="button" onClick={send} disabled={action.isBusy}>
        Send it again
      </button>
      <Problem of={action.error} />
    </>
  );
}

function AccountStatus({ account }: OfAccount) {
  const usage = useLoad(async (signal) => (await accountApi.get('/v1/usage', { signal })).data, []);
  return (
    <section aria-labelledby="account-status">
      <h2 id="account-status" class="vh">
        Account status
      </h2>
      <Waiting for={usage} failure="The usage could not be loaded">
        {({ used, limit, resets_at: resetsAt }) => (
          <div class="half">
            <div>
              <p class="sm dim">Calls this month</p>
              <p class="big" data-test="used">
                {numberText(used)}{' '}
                <small>
                  {limit === null ? 'calls, without a limit' : `of ${countText(limit, 'call', 'calls')}`}
                </small>
              </p>
              <Meter used={used} limit={limit} resetsAt={resetsAt} now={Date.now()} />
              <p class="xs dim below">
                {limit === null ? '' : `${shareText(used / limit)} used. `}The count resets on{' '}
                {instantText(resetsAt)} UTC. <Link href="/dashboard/usage">See the details</Link>
              </p>
            </div>
            <Facts
              facts={[
                [
                  'Plan',
                  <Link class="plan-name" href="/dashboard/billing">
                    {account.plan}
                  </Link>,
                ],
                [
                  'Keys',
                  <Link href="/dashboard/keys">
                    {account.active_keys} of {account.key_limit}
                  </Link>,
                ],
                ['Account created', agoText(account.created_at, Date.now())],
              ]}
            />
          </div>
        )}
      </Waiting>
    </section>
  );
}
