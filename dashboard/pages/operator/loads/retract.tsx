// Retracts a load: a dry run shows the changes, then the user types the number of the load. Shows the equivalent command.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { accountApi } from '../../../api/clients.ts';
import { Choice } from '../../../components/choice.tsx';
import { CodePanel } from '../../../components/code-panel.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { commandLine } from '../../../text/command-line.ts';
import { numberText } from '../../../text/numbers.ts';
import { dayText } from '../../../text/times.ts';
import { TypedConfirmation } from '../../account/typed-confirmation.tsx';
import { PointCounts } from '../point-counts.tsx';
import { LoadLink, type Load } from './load-state.tsx';

type Report = AnswerOf<'post', '/v1/operator/loads/{load}/retraction'>['data'];

/** The kind of retraction; `back`: the load is a retraction, and retracting it reactivates its loads. */
type RetractionKind = 'today' | 'erase' | 'back';

const retractionKinds: Record<
  RetractionKind,
  { label: string; means: string; button: string; warning: string }
> = {
  today: {
    label: 'From today',
    means:
      'From today, the data is as if this load had not been made. Earlier vintages stay as they were published.',
    button: 'Retract the load',
    warning: 'The data changes at once. To undo this, retract the retraction.',
  },
  erase: {
    label: 'From all vintages',
    means:
      'Removes the load from every vintage, as if it had never been loaded. Use it for data that should never have been published.',
    button: 'Erase the load',
    warning: 'The load is erased from all vintages. This cannot be undone.',
  },
  back: {
    label: 'From today',
    means: 'From today, the load that this one retracted is active again.',
    button: 'Retract the retraction',
    warning: 'The data changes at once. To undo this, retract the new load that it creates.',
  },
};

function kindsOf({ retracts, retractable: isRetractable, erasable: isErasable }: Load): RetractionKind[] {
  if (retracts !== null) return isRetractable ? ['back'] : [];
  return [...(isRetractable ? (['today'] as const) : []), ...(isErasable ? (['erase'] as const) : [])];
}

export function Retract({ load, reload }: { load: Load; reload: () => void }) {
  const [done, setDone] = useState<Report>();
  const allowed = kindsOf(load);
  const [first] = allowed;
  return (
    <section aria-labelledby="retract">
      <h2 id="retract">Retract</h2>
      <div role="status">{done !== undefined && <Done load={load.load} report={done} />}</div>
      {isRetractedFile(load) && load.retracted_by !== null && (
        <p class="sm below">
          This load is retracted by <LoadLink to={load.retracted_by} />. To make it active again, retract that
          load.
        </p>
      )}
      {first === undefined ? (
        <NotRetractable load={load} />
      ) : (
        <RetractForm
          key={`${load.status} ${done?.load}`}
          load={load}
          allowed={allowed}
          first={first}
          onDone={(report) => {
            setDone(report);
            reload();
          }}
        />
      )}
    </section>
  );
}

interface RetractFormProps {
  load: Load;
  allowed: readonly RetractionKind[];
  /** The kind selected at first. */
  first: RetractionKind;
  onDone: (report: Report) => void;
}

function RetractForm({ load: { load }, allowed, first, onDone }: RetractFormProps) {
  const [kind, setKind] = useState(first);
  const [typed, setTyped] = useState('');
  const [preview, setPreview] = useState<{ report: Report; kind: RetractionKind }>();
  const action = useAction();
  const request = { load, kind, reason: typed.trim() };
  const runDryRun = async () => setPreview({ report: await retraction(request, true), kind });
  return (
    <>
      <form class="form below" onSubmit={action.submit(runDryRun)}>
        {allowed.length > 1 && (
          <Choice
            label="Retract"
            options={allowed.map((value) => ({ value, label: retractionKinds[value].label }))}
            value={kind}
            onChange={setKind}
          />
        )}
        <p class="sm">{retractionKinds[kind].means}</p>
        <Field
          label="Reason, for the record"
          name="reason"
          maxLength={1000}
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Problem of={action.error} />
        <p class="actions">
          <button class="btn" type="submit" disabled={action.isBusy}>
            See what it changes
          </button>
        </p>
      </form>
      <div aria-live="polite">
        {preview?.kind === kind && <DryRunReport report={preview.report} command={commandOf(request)} />}
      </div>
      {preview?.kind === kind && <ConfirmButton request={request} onDone={onDone} />}
    </>
  );
}

/** The selected action. */
interface RetractionRequest {
  load: number;
  kind: RetractionKind;
  /** May be empty. */
  reason: string;
}

async function retraction({ load, kind, reason }: RetractionRequest, dryRun: boolean): Promise<Report> {
  const body = {
    ...(kind === 'erase' ? { erase: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(dryRun ? { dry_run: true } : {}),
  };
  const path = { load: String(load) };
  return (await accountApi.post('/v1/operator/loads/{load}/retraction', { path, body })).data;
}

/** The button that retracts, and the dialog that asks for the number of the load. */
function ConfirmButton({
  request,
  onDone,
}: {
  request: RetractionRequest;
  onDone: (report: Report) => void;
}) {
  const [isConfirming, setIsConfirming] = useState(false);
  const { button, warning } = retractionKinds[request.kind];
  return (
    <>
      <p class="actions mt">
        <button class="btn danger" type="button" onClick={() => setIsConfirming(true)}>
          {button}
        </button>
      </p>
      {isConfirming && (
        <TypedConfirmation
          title={`${button}?`}
          name={String(request.load)}
          button={button}
          change={async () => {
            const report = await retraction(request, false);
            setIsConfirming(false);
            onDone(report);
          }}
          onClose={() => setIsConfirming(false)}
        >
          <p>{warning}</p>
        </TypedConfirmation>
      )}
    </>
  );
}

function commandOf({ load, kind, reason }: RetractionRequest): string {
  return commandLine(
    ...['almanac', 'loads', 'retract', String(load)],
    ...(kind === 'erase' ? ['--erase'] : []),
    ...(reason === '' ? [] : ['--reason', reason]),
  );
}

function DryRunReport({ report, command }: { report: Report; command: string }) {
  const count = report.loads.length;
  return (
    <div role="group" aria-label="The dry run">
      <h3 class="mt">What it changes in data as of {dayText(report.since)} and later</h3>
      {count > 1 && (
        <p class="sm">
          {numberText(count)} loads of one file are retracted together, one for each of its vintages.
        </p>
      )}
      <PointCounts of={report} />
      <p class="xs dim below">The same on the command line</p>
      <CodePanel code={command} />
    </div>
  );
}

const effects: Record<Report['effect'], string> = {
  out_of_force: 'is retracted',
  in_force: 'is undone: the load that it retracted is active again',
  erased: 'is erased',
};

function Done({ load, report: { load: by, effect, since } }: { load: number; report: Report }) {
  return (
    <div class="note good below">
      <p>
        Load {load} {effects[effect]}
        {by !== undefined && (
          <>
            , by <LoadLink to={by} />
          </>
        )}
        . Data as of {dayText(since)} and later has changed.
      </p>
    </div>
  );
}

/** Whether the load can be made active again by retracting its retraction. A retraction that is itself retracted cannot. */
const isRetractedFile = ({ status, retracts }: Load) => status === 'retracted' && retracts === null;

function NotRetractable({ load }: { load: Load }) {
  if (isRetractedFile(load)) return null;
  if (load.status === 'erased')
    return <p class="sm below">This load is erased. To restore its data, load the file again.</p>;
  return (
    <p class="sm below">
      {load.not_retractable_because} <Link href="/docs/corrections">How corrections work</Link>
    </p>
  );
}
