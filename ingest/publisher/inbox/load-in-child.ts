// Processes files of the watched folder in a child process: the publisher, which must make releases on time, has no code that reads them. A
// file that crashes the child process is rejected at once, because it would crash the next process too.
import { ProcessEnded, type ChildRunner } from '../child-process/run-in-child.ts';
import { relaxLimits } from '../../load/lock/load-lock.sql.ts';
import { listClaimed, moveToRejected, NotNow } from './folder.ts';
import { lockInbox } from './inbox.sql.ts';
import type { InboxDeps, InboxTasks, Outcome } from './load-file.ts';
import { reportText, crashRejection } from './rejection-report.ts';
import type { WatchDeps } from './watch.ts';

export function workInChild(deps: InboxDeps, children: ChildRunner<InboxTasks>): WatchDeps['work'] {
  return async (file, started, signal) => {
    const { directory, seriesTimeZone } = deps;
    const isStarted = 'id' in file && started.has(file.id);
    const given = { file, isStarted, settings: { directory, seriesTimeZone } };
    let id: string | undefined;
    const onEvent = (event: { started: string }) => {
      id = event.started;
      started.add(id);
    };
    try {
      const answer = await children.run('inbox-file', given, { signal, onEvent });
      if (answer.result === 'later') throw new NotNow(answer.reason);
      return answer;
    } catch (error) {
      if (signal.aborted) throw new NotNow('the publisher is stopped');
      if (!(error instanceof ProcessEnded) || id === undefined) throw error;
      return rejectClaimed(deps, id, error);
    }
  };
}

async function rejectClaimed(deps: InboxDeps, id: string, ended: ProcessEnded): Promise<Outcome> {
  const { database, clock, directory } = deps;
  return database.transaction(async (on) => {
    await relaxLimits(on);
    await lockInbox(on); // until PostgreSQL notices that the process is gone
    const claimed = (await listClaimed(directory)).find((each) => each.id === id);
    if (claimed === undefined) return { result: 'gone' };
    const at = await clock.now(on);
    const rejection = crashRejection(ended);
    const movedTo = await moveToRejected(directory, claimed, at, (name) =>
      reportText(rejection, { claimed, name, directory, at }),
    );
    return { result: 'rejected', movedTo, reason: rejection.reason };
  });
}
