// Facts about one thing: a name and a value each, side by side.
import { Fragment, type ComponentChild } from 'preact';

interface FactsProps {
  /** In order; a fact whose value is null, undefined or false is omitted. The third element is its name for tests. */
  facts: readonly (readonly [name: string, value: ComponentChild, test?: string])[];
  class?: string;
}

export function Facts({ facts, class: className = '' }: FactsProps) {
  return (
    <dl class={`dl ${className}`.trim()}>
      {facts.map(([name, value, test]) =>
        value == null || value === false ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd data-test={test}>{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}
