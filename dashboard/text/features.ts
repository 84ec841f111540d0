// The names of what plans have beside their calls.

const texts: Readonly<Record<string, string>> = {
  vintages: 'Vintages and revisions',
  bulk: 'Bulk files',
  webhooks: 'Webhooks',
  pinned_keys: 'Keys pinned to a day',
};

/** An operator's other features are shown by their id. */
export function featureText(feature: string): string {
  return texts[feature] ?? feature;
}
