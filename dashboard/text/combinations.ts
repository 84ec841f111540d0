// The names of combinations of dimension values.

interface Labelled {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/** The labels of the values, in the order of the dimensions; a value without a label is shown as it is: `Euro, buy`. */
export function combinationText(dims: readonly Labelled[], values: Readonly<Record<string, string>>): string {
  return dims
    .flatMap(({ name, labels }) => {
      const value = values[name];
      return value === undefined ? [] : [labels[value] ?? value];
    })
    .join(', ');
}
