// Which days a key that is pinned to a day may ask for.
import { refuseParam } from '../kernel/errors.ts';

/** @param asOf the day of the pin; null: none. @throws Failure `invalid_parameter` for a later day. */
export function requireByPin(asOf: string | null, day: string | null | undefined, param: string): void {
  if (asOf === null || day === null || day === undefined || day <= asOf) return;
  refuseParam(param, `"${param}" must not be after ${asOf}, the day that the API key is pinned to.`);
}
