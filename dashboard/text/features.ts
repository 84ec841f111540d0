// The names of the features of plans.

const texts: Readonly<Record<string, string>> = {
  vintages: 'Vintages and revisions',
  bulk: 'Bulk files',
  webhooks: 'Webhooks',
  pinned_keys: 'Keys pinned to a day',
};

/** Features that an operator has added are shown by their id. */
export function featureText(feature: string): string {
  return texts[feature] ?? feature;
}
