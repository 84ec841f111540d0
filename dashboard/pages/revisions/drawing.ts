// Browser functions for drawing on a canvas: the colours of the theme, and sharp lines on every screen.
import { useEffect, useState } from 'preact/hooks';

/** Changes with the theme, as the colours on a canvas must then be redrawn. */
export function useTheme(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const changed = () => setChanges((count) => count + 1);
    const observer = new MutationObserver(changed);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', changed);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', changed);
    };
  }, []);
  return changes;
}

/** The colours of tokens such as `--ghost`, as the theme has them now. */
export function coloursOf<Token extends string>(
  within: HTMLElement,
  tokens: readonly Token[],
): Record<Token, string> {
  const probe = document.createElement('i');
  within.append(probe);
  const style = getComputedStyle(probe);
  const colours = Object.fromEntries(
    tokens.map((token) => {
      probe.style.color = `var(${token})`;
      return [token, style.color];
    }),
  ) as Record<Token, string>;
  probe.remove();
  return colours;
}

/** The context of a canvas of that size, cleared, in CSS pixels. */
export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser has no canvas.');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}
