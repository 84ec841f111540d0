// Reads the values behind `#` when a mailed link, Google or Stripe leads here: tokens, codes and results. Removes them from the URL at
// once.

/** Reads it and removes it from the URL, so that neither the history nor a copied address contains it. */
export function popFragment(): URLSearchParams {
  const { hash, pathname, search } = location;
  if (hash !== '') history.replaceState(history.state, '', pathname + search);
  return new URLSearchParams(hash.slice(1));
}
