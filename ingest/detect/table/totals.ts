// Recognises the texts of total rows.

const total = /^\W*(?:\(?[a-z]{1,3}\)\s*)?(?:grand[- ]?|sub[- ]?)*totals?\b/i;

/** Whether a text names the total of other rows: `Total`, `Grand total`, `(A) Sub-total`. */
export const isTotal = (text: string): boolean => total.test(text);
