// Reads and writes the text of a filter by dimension values, `side:buy|sell,city:Lahore`: comma is AND over dimensions, | is OR within one,
// a backslash escapes the next character. Also names the columns of dimensions in files.

export interface DimsPart {
  /** Empty if the part has no name. */
  name: string;
  /** A value is empty if it is missing. */
  values: string[];
}

/** The parts of a filter, in order. */
export function readDims(text: string): DimsPart[] {
  return splitUnescaped(text, ',').map((part) => {
    const colon = part.indexOf(':');
    return {
      name: unescaped(part.slice(0, Math.max(colon, 0))),
      values: splitUnescaped(part.slice(colon + 1), '|').map(unescaped),
    };
  });
}

/** The text that `readDims` reads as this. */
export function writeDims(selected: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(selected)
    .map(([name, values]) => `${escaped(name)}:${values.map(escaped).join('|')}`)
    .join(',');
}

/** The filter by a single value of each dimension. */
export function writeCombination(dims: Readonly<Record<string, string>>): string {
  return writeDims(Object.fromEntries(Object.entries(dims).map(([name, value]) => [name, [value]])));
}

function splitUnescaped(text: string, separator: ',' | '|'): string[] {
  const parts = [''];
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charAt(i);
    if (character === separator) parts.push('');
    else parts[parts.length - 1] += character === '\\' ? character + text.charAt((i += 1)) : character;
  }
  return parts;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\,|]/g, '\\$&');
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/gu, '$1');
}

/** The names of the columns of dimensions: one that another column has, in any case, gets the prefix `dim_`. @param others the other columns. */
export function dimensionColumns(dimensions: readonly string[], others: Iterable<string>): string[] {
  const usedNames = new Set(others);
  return dimensions.map((dimension) => {
    let name = dimension;
    while (usedNames.has(name.toLowerCase())) name = `dim_${name}`;
    usedNames.add(name.toLowerCase());
    return name;
  });
}
