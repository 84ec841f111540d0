// The dependencies that main passes to the handlers of this service.
import type { Clock } from '../kernel/clock.ts';
import type { Database, Queryable } from '../kernel/database.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Cursors } from '../kernel/http/cursor.ts';
import type { BulkFiles } from './bulk/files.ts';
import type { DrawingSlots } from './charts/drawing-slots.ts';
import type { FrontPage } from './front-page/front-page-file.ts';
import type { Loads } from './loads.ts';
import type { Vocabulary } from './search/vocabulary.ts';
import type { SeriesFacts } from './series/series-cache.ts';

export interface Dependencies {
  database: Database;
  /** A few connections for long reads, separate from those of `database`: short reads never wait for one behind them. */
  longReads: Queryable;
  cursors: Cursors;
  seriesFacts: SeriesFacts;
  loads: Loads;
  /** The state besides the data that answers depend on: see `editionOf`. */
  edition: string;
  vocabulary: Vocabulary;
  /** From the operator's configuration. */
  frontPage: FrontPage;
  drawingSlots: DrawingSlots;
  /** As of a day that is over, it shows the last instant of that day. */
  clock: Clock;
  /** The dependencies of the present state, if these are as of a day. */
  present: Dependencies | null;
  /** The day, `YYYY-MM-DD`, that all reads are as of; null: now. */
  asOf: string | null;
  /** The publisher's time zone, an IANA name: vintages are days in it. */
  seriesTimeZone: string;
  /** Where clients reach the gateway, without a slash at the end: the URL of a citation begins with it. */
  publicUrl: string;
  /** The most points per combination of dimension values in the previews of visitors; 0 disables previews. */
  previewPoints: number;
  /** The id of the series whose revisions visitors may see; undefined: there is none. */
  openRevisionsSeries: string | undefined;
  /** Undefined if there are none. */
  bulk: BulkFiles | undefined;
  log: Log;
}

/** The dependencies of the present state, also for those as of a day. */
export const presentOf = (dependencies: Dependencies): Dependencies => dependencies.present ?? dependencies;
