// What the colours of a chart mean: a swatch and a name for each.

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

export function Swatch({ colour }: { colour: string }) {
  return <i class="swatch" style={{ background: colour }} />;
}
