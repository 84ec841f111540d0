// The days that a pinned key may request.
import { dateIn } from '../kernel/clock.ts';
import { refuseParam } from '../kernel/errors.ts';
import type { Dependencies } from './dependencies.ts';

/** @param asOf the day of the pin; null: none. @throws Failure `invalid_parameter` for a later day. */
export function requireByPin(asOf: string | null, day: string | null | undefined, param: string): void {
  if (asOf === null || day === null || day === undefined || day <= asOf) return;
  refuseParam(param, `"${param}" must not be after ${asOf}, the day that the API key is pinned to.`);
}

/**
 * A key is never pinned to a day that has not begun, but a tool of /mcp may request one.
 * @throws Failure `invalid_parameter` for such a day, as its data is not known yet.
 */
export function requireNotFuture(
  asOf: string,
  { clock, seriesTimeZone }: Pick<Dependencies, 'clock' | 'seriesTimeZone'>,
): void {
  const today = dateIn(seriesTimeZone, clock.now());
  if (asOf <= today) return;
  refuseParam('as_of', `"as_of" must not be in the future; today is ${today} (${seriesTimeZone}).`);
}
