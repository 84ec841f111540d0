// Writes attributes and text of XML, escaped.

export const xmlHead = '<?xml version="1.0" encoding="utf-8" ?>\n';

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Text for an element or a double-quoted attribute. Characters that XML cannot contain are dropped. */
export function xmlText(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replaceAll(/[&<>"\t\n\r]/g, (character) => entities[character] ?? '')
  );
}

/** ` name="value"` for each. A character that is invalid in a name becomes `_`. */
export function xmlAttributes(values: Readonly<Record<string, string | number | boolean>>): string {
  let text = '';
  for (const [name, value] of Object.entries(values)) text += ` ${xmlName(name)}="${xmlText(String(value))}"`;
  return text;
}

function xmlName(name: string): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_.-]/g, '_');
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}
