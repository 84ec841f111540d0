// Placeholders for missing content: waiting, slow, failed, empty.
import type { ComponentChild, ComponentChildren } from 'preact';
import type { AlmanacError } from '../../clients/typescript/errors.ts';
import type { Loaded } from '../api/use-load.ts';

interface WaitingProps<T> {
  for: Loaded<T>;
  /** Has the final size, so that nothing moves; by default three grey lines. */
  skeleton?: ComponentChild;
  /** The failure as a heading: "The series could not be loaded". */
  failure?: string;
  children: (value: T) => ComponentChild;
}

/** Shows the content once it is loaded, before that its skeleton, or the error. Content from before a reload or a change of the inputs stays, below the error of a reload. */
export function Waiting<T>({ for: loaded, skeleton, failure, children }: WaitingProps<T>) {
  const failed = loaded.phase === 'failed' && (
    <Failed
      error={loaded.error}
      retry={loaded.reload}
      {...(failure === undefined ? {} : { title: failure })}
    />
  );
  if (loaded.phase === 'failed' && !loaded.isReload) return failed;
  // One element for both, so that input, open parts and focus in the content survive a reload.
  const known =
    loaded.phase !== 'ready' && loaded.previous !== undefined ? { value: loaded.previous } : loaded;
  if ('value' in known) {
    const isOld = loaded.phase === 'loading' || loaded.phase === 'slow';
    return (
      <div aria-busy={loaded.phase !== 'ready' && failed === false} class={isOld ? 'old' : undefined}>
        {failed}
        {children(known.value)}
      </div>
    );
  }
  return (
    <div aria-busy="true">
      {/* Invisible at first, but already at its final size. */}
      <div class={loaded.phase === 'begun' ? 'sk-later' : undefined}>{skeleton ?? <SkeletonLines />}</div>
      <p class="slow" role="status">
        {loaded.phase === 'slow' ? 'This takes longer than usual.' : ''}
      </p>
    </div>
  );
}

export function SkeletonLines({ lines = 3 }: { lines?: number }) {
  return (
    <div class="sk-lines" aria-hidden="true">
      {Array.from({ length: lines }, (_unused, i) => (
        <span key={i} class="sk" />
      ))}
    </div>
  );
}

/** Rows of a table at their final height. */
export function SkeletonRows({ rows, height = 64 }: { rows: number; height?: 45 | 64 }) {
  return (
    <div class={`sk-rows h${height}`} aria-hidden="true">
      {Array.from({ length: rows }, (_unused, i) => (
        <div key={i}>
          <span class="sk" />
        </div>
      ))}
    </div>
  );
}

interface FailedProps {
  error: AlmanacError;
  /** Absent if a retry would not help. */
  retry?: () => void;
  title?: string;
}

/** The error in the API's own words, with the details that support needs. A missing object is not retried. */
export function Failed({ error, retry, title = 'This could not be loaded' }: FailedProps) {
  const isAbsent = error.status === 404;
  return (
    <div class="empty" role="alert">
      <h3>{isAbsent ? 'Not found' : title}</h3>
      <p>{error.message}</p>
      <div class="actions">
        {retry && !isAbsent && (
          <button class="btn" type="button" onClick={retry}>
            Try again
          </button>
        )}
        {error.docsUrl !== undefined && (
          <a class="btn plain" href={error.docsUrl}>
            What this means
          </a>
        )}
      </div>
      <p class="req">
        {error.code}
        {error.requestId !== undefined && ` · request ${error.requestId}`}
      </p>
    </div>
  );
}

/** The message for an empty list, with the next step. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
