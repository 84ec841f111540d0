// How the watched folder stands, for /metrics: what waits in it, for how long, and what was rejected and is still there.
import type { Log } from '../../../kernel/log/log.ts';
import { askedFigures } from '../../../kernel/metrics/figures.ts';
import type { Metric } from '../../../kernel/metrics/text.ts';
import type { Inbox } from './watch.ts';

export function inboxMetrics(inbox: Inbox, log: Log): Metric[] {
  const figures = askedFigures('the folder INBOX_DIR', () => inbox.standing(), log);
  return [
    figures.answered(
      { name: 'almanac_inbox_up', help: '1 if INBOX_DIR and the database can be read, else 0.' },
      {},
    ),
    figures.metric(
      { name: 'almanac_inbox_waiting', help: 'Files of INBOX_DIR that are neither loaded nor rejected yet.' },
      ({ waiting }) => [{ value: waiting }],
    ),
    figures.metric(
      { name: 'almanac_inbox_waiting_seconds', help: 'How long the file that waits for longest has waited.' },
      ({ oldestSeconds }) => [{ value: oldestSeconds }],
    ),
    figures.metric(
      { name: 'almanac_inbox_rejected', help: 'Files in the folder rejected of INBOX_DIR.' },
      ({ rejected }) => [{ value: rejected }],
    ),
    {
      name: 'almanac_inbox_files_total',
      help: 'Files of INBOX_DIR that this process has dealt with.',
      type: 'counter',
      read: () =>
        Object.entries(inbox.counts).map(([outcome, value]) => ({
          labels: { outcome: outcome.replace(' ', '_') },
          value,
        })),
    },
  ];
}
