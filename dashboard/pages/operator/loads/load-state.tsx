// The status of a load as a badge, and the link to its page.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';

export type Load = AnswerOf<'get', '/v1/operator/loads/{load}'>['data'];

type OfLoad = Pick<Load, 'status' | 'retracted_by' | 'retracts' | 'erases'>;

const inactiveLabels = { retracted: 'Retracted', erased: 'Erased' };

export function LoadState({ of: { status, retracted_by: by, retracts, erases } }: { of: OfLoad }) {
  if (status !== 'in_force')
    return (
      <span class="st off">
        {inactiveLabels[status]}
        {by !== null && ` by ${by}`}
      </span>
    );
  if (retracts !== null)
    return (
      <span class="st good">
        {erases ? 'Erases' : 'Retracts'} {retracts}
      </span>
    );
  return <span class="st good">Active</span>;
}

export function LoadLink({ to }: { to: number }) {
  return <Link href={`/dashboard/operator/loads/${to}`}>load {to}</Link>;
}

/** The name of its file. */
export function sourceText({ source_name: name }: Pick<Load, 'source_name'>): string {
  return name === '-' ? 'standard input' : name;
}
