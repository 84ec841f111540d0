// The colours of charts as custom properties, written into styles/tokens.css when the dashboard is built. domain/chart defines them once, for files
// and pages.
import type { Plugin } from 'vite';
import { palettes, type Palette } from '../../domain/chart/palette.ts';

export function palette(): Plugin {
  return {
    name: 'almanac-palette',
    enforce: 'pre',
    transform: (code, id) =>
      id.endsWith('/styles/tokens.css') ? { code: `${code}\n${paletteCss()}`, map: null } : undefined,
  };
}

/** Each property with its light and its dark colour. */
function paletteCss(): string {
  const [light, dark] = [coloursOf(palettes.light), coloursOf(palettes.dark)];
  const properties = coloursOf(palettes.page).map(
    (name, i) => `  ${name.slice('var('.length, -1)}: light-dark(${light[i]}, ${dark[i]});\n`,
  );
  return `:root {\n${properties.join('')}}\n`;
}

function coloursOf({ paper, ink, ink2, ink3, grid, axis, series }: Palette): string[] {
  return [paper, ink, ink2, ink3, grid, axis, ...series];
}
