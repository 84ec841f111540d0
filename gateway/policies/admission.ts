// Makes one request to Redis for what three later policies decide: the owner of the key, the rate limit and the month's quota. If
// the key is new here or Redis cannot decide, those policies make their own requests. Without Redis it does nothing.
import { callOf, enterStage, type Call } from '../call.ts';
import type { Admissions } from '../quota/admission.ts';
import type { Month } from '../quota/month.ts';
import type { Policy } from '../policy.ts';
import type { CredentialFailures } from '../limits/failures.ts';
import { requireAccepted, type Presented } from './credential.ts';
import { callsOf } from './quota.ts';

export interface AdmissionOptions {
  /** Undefined without Redis. */
  admissions: Admissions | undefined;
  failures: CredentialFailures;
  month: Pick<Month, 'charge'>;
}

const onlyKeys = ['key'] as const;

export function admission({ admissions, failures, month }: AdmissionOptions): Policy {
  if (admissions === undefined) return (_request, _response, next) => next();
  const find = ({ hash }: Presented, call: Call) => admissions.ask(hash, callsOf(call.path, call.query));
  return async (request, response, next) => {
    const call = callOf(request);
    enterStage(call, 'credential');
    call.admission = await requireAccepted(failures, request, onlyKeys, find);
    const { month: take } = call.admission;
    if (take !== undefined) month.charge(call, response, take);
    next();
  };
}
