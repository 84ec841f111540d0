// The metrics of a process, and their text in Prometheus' format, version 0.0.4.

/** A metric whose samples are read on each scrape. */
export interface Metric {
  name: string;
  help: string;
  /** `gauge` by default. */
  type?: 'gauge' | 'counter' | 'histogram';
  /** Awaited briefly before `read`, for figures that come from another server. Never rejects. */
  refresh?: () => Promise<void>;
  read(): readonly Sample[];
}

export interface Sample {
  /** The suffix of a histogram's line. */
  suffix?: '_bucket' | '_sum' | '_count';
  labels?: Readonly<Record<string, string>>;
  value: number;
}

/** The current metrics as text. Metrics of the same name, from several services in one process, form one family. */
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
