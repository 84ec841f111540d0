// The part of `almanac ingest` about loads under embargo: submits the file, and prints what was accepted.
import { acceptUnderEmbargo, type Accepted, type Due } from '../../ingest/publisher/releases/accept.ts';
import { reportOf } from '../../ingest/load/load-report.ts';
import { isPublisherAlive } from '../../ingest/publisher/releases/release-health.ts';
import { usageError } from '../../ingest/failure.ts';
import { tableLoad } from '../../ingest/plan/load-table-file.ts';
import type { FileToLoad } from '../../ingest/plan/plan.ts';
import { dateIn, systemClock } from '../../kernel/clock.ts';
import type { LoadOptions, LoadSummary } from '../../ingest/load/store/load-options.ts';
import { printJson, type Terminal } from '../command.ts';
import { withData, type Environment } from '../installation.ts';
import { counted } from '../../kernel/text/counted.ts';

export interface AcceptedHere {
  accepted: Accepted;
  /** Whether a publisher is running, which makes releases. */
  isPublisherAlive: boolean;
}

/** @throws IngestFailure as `acceptUnderEmbargo` does, and if the file is not text: its bytes are stored until the instant. */
export function acceptInto(
  env: Environment,
  planned: FileToLoad,
  given: Pick<LoadOptions, 'reportFile' | 'onProgress' | 'onWaiting' | 'onInterrupted'>,
  due: Due,
): Promise<AcceptedHere> {
  return withData(env, 'ingest', async (database, { settings: { seriesTimeZone, fiscalYearFirstMonth } }) => {
    const { options } = tableLoad(planned, dateIn(seriesTimeZone, systemClock.now()));
    if (options.rows !== undefined)
      usageError(
        'A workbook or web page cannot be put under embargo by this command: save its table as CSV.',
      );
    const load = { ...options, ...given, seriesTimeZone, fiscalYearFirstMonth };
    const accepted = await acceptUnderEmbargo(database, load, due);
    return { accepted, isPublisherAlive: await isPublisherAlive(database) };
  });
}

export function printAccepted(
  terminal: Terminal,
  { accepted: { releaseNo, at, leadMs, summary }, isPublisherAlive }: AcceptedHere,
  asJson: boolean,
): void {
  if (asJson) {
    return printJson(terminal, {
      ...{ release: releaseNo, release_at: at.toISOString(), lead_seconds: leadMs / 1000 },
      ...{ publisher_alive: isPublisherAlive, checked: reportOf(summary) },
    });
  }
  for (const note of summary.notes) terminal.stderr.write(`note: ${note}\n`);
  terminal.stdout.write(
    `release ${releaseNo}, due ${at.toISOString()}, is under embargo. As the data is now: ${countsText(summary)}\n`,
  );
  if (!isPublisherAlive)
    terminal.stderr.write(
      'No publisher is running, which makes releases: "almanac start" or "almanac start publisher" must run at that instant.\n',
    );
}

/** The counts of a load, for people. */
export function countsText(summary: LoadSummary): string {
  const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted } = summary;
  return (
    `${counted(summary.rowsRead, 'row')} read: ${pointsNew} new, ${pointsRevised} revised, ` +
    `${pointsUnchanged} unchanged, ${pointsDeleted} deleted, ${summary.rowsRejected} rejected` +
    `${summary.rowsSkipped === 0 ? '' : `, ${summary.rowsSkipped} skipped by --skip-where`}; ` +
    `${summary.seconds.toFixed(1)} s, ${Math.round(summary.rowsPerSecond)} rows/s`
  );
}
