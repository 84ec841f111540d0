// The metrics of a process, and their text in the format of Prometheus, version 0.0.4.

/** A metric whose samples are read on each scrape. */
export interface Metric {
  name: string;
  help: string;
  /** `gauge` by default. */
  type?: 'gauge' | 'counter' | 'histogram';
  /** Is awaited before `read`, for a moment only: what `read` tells is asked of somebody else. Never rejects. */
  refresh?: () => Promise<void>;
  read(): readonly Sample[];
}

export interface Sample {
  /** Of a line of a histogram. */
  suffix?: '_bucket' | '_sum' | '_count';
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** The metrics as they are now. Those of the same name, of several services in one process, are one family. */
export function metricsText(metrics: readonly Metric[]): string {
  return [...Map.groupBy(metrics, ({ name }) => name).values()].map(familyText).join('');
}

function familyText(metrics: readonly Metric[]): string {
  const [first] = metrics;
  if (first === undefined) return '';
  const { name, help, type = 'gauge' } = first;
  const samples = metrics.flatMap((metric) => metric.read()).map((sample) => sampleText(name, sample));
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.join('')}`;
}

function sampleText(name: string, { suffix, labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, content]) => `${label}="${escape(content)}"`);
  return `${name}${suffix ?? ''}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function escape(content: string): string {
  return content.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
