// The colours of charts, defined only here: files, embeds and PNG contain them literally, and the style sheet of the dashboard is built
// with custom properties of the same colours, which `page` names.

export const themes = ['light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export interface Palette {
  paper: string;
  /** Headings. */
  ink: string;
  /** Units and text. */
  ink2: string;
  /** Captions and ticks. */
  ink3: string;
  grid: string;
  axis: string;
  /** The colours of lines, in order; distinguishable for deuteranopes and protanopes, 3:1 contrast on paper. */
  series: readonly string[];
}

/** `page`: the custom properties, which follow the theme of the page. */
export const palettes: Readonly<Record<Theme | 'page', Palette>> = {
  light: {
    paper: '#ffffff',
    ink: '#14181d',
    ink2: '#424a54',
    ink3: '#5f6872',
    grid: '#e8ebed',
    axis: '#9aa2ab',
    series: ['#1b50c2', '#bf4d08', '#00775a', '#9a3f8c', '#86660a', '#2a86b8', '#6d5a50', '#39414a'],
  },
  dark: {
    paper: '#101316',
    ink: '#eef0f2',
    ink2: '#bac1c9',
    ink3: '#929ba6',
    grid: '#252b31',
    axis: '#5a636d',
    series: ['#86acff', '#f5935a', '#45c09b', '#dd8fd0', '#d5b24a', '#6cc3ee', '#bda99d', '#c9d0d7'],
  },
  page: {
    paper: 'var(--paper)',
    ink: 'var(--ink)',
    ink2: 'var(--ink-2)',
    ink3: 'var(--ink-3)',
    grid: 'var(--grid)',
    axis: 'var(--axis)',
    series: [
      'var(--s1)',
      'var(--s2)',
      'var(--s3)',
      'var(--s4)',
      'var(--s5)',
      'var(--s6)',
      'var(--s7)',
      'var(--s8)',
    ],
  },
};

/** The dashes of lines, as `stroke-dasharray`; null: solid. When the colours are used up they start again, with the next dash. */
export const dashes: readonly (string | null)[] = [null, '7 6'];
const coloursCount = palettes.page.series.length;
/** The most lines with different styles. */
export const stylesCount = coloursCount * dashes.length;

export interface LineStyle {
  /** The position in the colours of a palette. */
  colourNo: number;
  /** The position in `dashes`. */
  dashNo: number;
}

/** The style at a position; after the last one, the styles begin again. */
export function lineStyle(styleNo: number): LineStyle {
  const no = styleNo % stylesCount;
  return { colourNo: no % coloursCount, dashNo: Math.floor(no / coloursCount) };
}
