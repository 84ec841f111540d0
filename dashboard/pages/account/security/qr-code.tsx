// A text as a QR code, drawn in the browser as SVG, so that the secret is sent to nobody.
import { encode } from 'uqr';

/** The quiet zone around the code that scanners need, in cells. */
const border = 4;

export function QrCode({ text, label }: { text: string; label: string }) {
  const { data, size } = encode(text, { border, ecc: 'M' });
  const path = data
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
    .join('');
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect class="qr-light" width={size} height={size} />
      <path class="qr-dark" d={path} />
    </svg>
  );
}
