// A page whose code is loaded when it is first shown.
import type { ComponentType } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { asAlmanacError, localError } from '../api/clients.ts';
import { useLoad } from '../api/use-load.ts';
import { Failed, Waiting } from '../components/states.tsx';

/** The properties that a route passes to its page: the path parameters, such as `:id`. */
export interface PageProps {
  params: Readonly<Record<string, string | undefined>>;
}

/** @param load imports the page. Its code is cached; a failed import is retried. */
export function lazyPage(load: () => Promise<ComponentType<PageProps>>): ComponentType<PageProps> {
  let Page: ComponentType<PageProps> | undefined;
  return function LazyPage(props: PageProps) {
    const loading = useLoad(async () => (Page ??= await load().catch(notLoaded)), []);
    const [fault, tryAgain] = useErrorBoundary((thrown: unknown) => console.error(thrown));
    if (Page !== undefined && fault === undefined) return <Page {...props} />;
    return (
      <div class="wrap">
        {fault !== undefined && (
          <Failed error={asAlmanacError(fault)} retry={tryAgain} title="This page cannot be shown" />
        )}
        <Waiting for={loading} failure="The page could not be loaded">
          {() => null}
        </Waiting>
      </div>
    );
  };
}

/** @throws AlmanacError with a remedy: the files of a page have other names after an update. */
function notLoaded(cause: unknown): never {
  const message =
    'Its code could not be loaded. If trying again does not help, reload the window: the dashboard may have been updated.';
  throw localError('unreachable', message, cause);
}
