// Saves the view on screen as files: the chart in SVG or PNG, and texts.
import { chartSvg } from '../../domain/chart/chart.ts';
import type { Chart } from '../../domain/chart/layout.ts';

const [width, height, scale] = [824, 480, 2];

/** Saves a chart in its own size and in light colours, whatever the theme of the page. */
export async function saveChart(
  chart: Omit<Chart, 'width' | 'height' | 'theme'>,
  caption: string,
  name: string,
  type: 'svg' | 'png',
): Promise<void> {
  const svg = chartSvg({ ...chart, width, height, theme: 'light', standalone: { caption } });
  if (type === 'svg') saveText(svg, name, 'image/svg+xml');
  else save(await pngOf(svg), name);
}

export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type: `${type};charset=utf-8` }), name);
}

async function pngOf(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml;charset=utf-8' }));
  try {
    const image = new Image(width * scale, height * scale);
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * scale;
    canvas.height = height * scale;
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => {
      canvas.toBlob((blob) => {
        if (blob === null) reject(new Error('This browser could not make a PNG.'));
        else resolve(blob);
      }, 'image/png');
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
