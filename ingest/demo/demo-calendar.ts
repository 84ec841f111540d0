// The demo's release calendar: the releases of its monthly series, a few past ones and half a year ahead.
import { addDays, addMonths } from '../../kernel/dates.ts';
import { periodEnd } from '../../domain/periods.ts';
import { source, type DemoFile } from './demo-file.ts';

/** The day on which the figures of a month are released, in the month after it. */
export const releaseDay = 16;

const releases = [
  {
    id: 'prices-and-labour',
    title: 'Prices and labour market',
    series: 'DEMO.CPI;DEMO.UNEMPLOYMENT',
    time: '10:00',
  },
  { id: 'trade', title: 'External trade', series: 'DEMO.EXPORTS', time: '11:30' },
];

/** One release of each kind per month, from three months ago to six months ahead. */
export function calendarFile(today: string): DemoFile {
  return {
    dataset: 'calendar',
    *lines() {
      yield 'release_id,title,source,release_at,time_zone,reference_period,frequency,kind,importance,series_ids';
      for (let months = -3; months <= 6; months += 1) {
        const period = periodEnd(addMonths(`${today.slice(0, 7)}-01`, months - 1), 'monthly').slice(0, 7);
        for (const { id, title, series, time } of releases) {
          const date = addDays(addMonths(`${period}-01`, 1), releaseDay - 1);
          yield `demo-${id}-${period},${title},${source},${date} ${time},UTC,${period},monthly,new,high,${series}`;
        }
      }
    },
  };
}
