// The text format of Prometheus, version 0.0.4.

/** A value that is read on each scrape. */
export interface Gauge {
  name: string;
  help: string;
  type?: 'gauge' | 'counter';
  read(): readonly { labels?: Readonly<Record<string, string>>; value: number }[];
}

/** The gauges, as they are now. */
export function gaugesText(gauges: readonly Gauge[]): string {
  return gauges
    .map(({ name, help, type = 'gauge', read }) =>
      family(
        name,
        type,
        help,
        read().map(({ labels = {}, value }) => line('', labels, value)),
      ),
    )
    .join('');
}

export interface Line {
  suffix: string;
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** A line of a family. */
export function line(suffix: string, labels: Line['labels'], value: number): Line {
  return { suffix, labels, value };
}

/** A metric: its help, its type, its lines. */
export function family(
  name: string,
  type: 'counter' | 'gauge' | 'histogram',
  help: string,
  lines: readonly Line[],
): string {
  const text = lines.map(({ suffix, labels, value }) => {
    const pairs = Object.entries(labels).map(([label, content]) => `${label}="${escape(content)}"`);
    return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${text.join('')}`;
}

function escape(content: string): string {
  return content.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
