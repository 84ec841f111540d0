// The legend of a chart: a swatch and a name for each colour; in a line chart, each entry toggles its line.
import { dashes } from '../../domain/chart/palette.ts';

interface LegendProps {
  /** With any CSS colours, such as those of `palettes.page`. */
  entries: readonly { name: string; colour: string }[];
}

export function Legend({ entries }: LegendProps) {
  return (
    <ul class="legend">
      {entries.map(({ name, colour }, i) => (
        <li key={i}>
          <Swatch colour={colour} />
          {name}
        </li>
      ))}
    </ul>
  );
}

interface LegendTogglesProps {
  entries: readonly { name: string; colour: string; dashNo: number; isShown: boolean }[];
  /** Hides the line of an entry, or shows it again. */
  onToggle: (position: number) => void;
}

/** One line always stays visible. */
export function LegendToggles({ entries, onToggle }: LegendTogglesProps) {
  const isOneShown = entries.filter(({ isShown }) => isShown).length === 1;
  return (
    <div class="legend toggles" role="group" aria-label="Lines">
      {entries.map(({ name, colour, dashNo, isShown }, i) => {
        const stays = isShown && isOneShown;
        return (
          <button
            key={i}
            type="button"
            aria-pressed={isShown}
            aria-disabled={stays}
            title={stays ? 'At least one stays' : undefined}
            onClick={() => {
              if (!stays) onToggle(i);
            }}
          >
            <Swatch colour={colour} dashNo={dashNo} />
            {name}
          </button>
        );
      })}
    </div>
  );
}

/** @param dashNo of a line, see `lineStyle`: the swatch of a dashed line is dashed. */
export function Swatch({ colour, dashNo = 0 }: { colour: string; dashNo?: number }) {
  const dash = dashes[dashNo] ?? null;
  if (dash === null) return <i class="swatch" style={{ background: colour }} />;
  return (
    <svg class="swatch-line" width="18" height="9" viewBox="0 0 18 9" aria-hidden="true">
      <path d="M1,4.5H17" stroke={colour} stroke-width="2.5" stroke-dasharray="6 4" />
    </svg>
  );
}
