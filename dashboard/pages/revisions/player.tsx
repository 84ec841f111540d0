// The slider over the vintages, and playback: Space plays and pauses, arrows move by one, PgUp and PgDn by ten, Home and End to the ends.
// Playback takes 450 ms a vintage for up to forty of them, else 18 seconds for all.
import { useEffect, useRef } from 'preact/hooks';
import { dayText } from '../../text/times.ts';

interface PlayerProps {
  vintages: readonly string[];
  vintageNo: number;
  onVintage: (vintageNo: number) => void;
  isPlaying: boolean;
  onPlaying: (isPlaying: boolean) => void;
}

const stepMs = 450;
const steppedUpTo = 40;
const allMs = 18_000;
const ticksMost = 60;

export function Player({ vintages, vintageNo, onVintage, isPlaying, onPlaying }: PlayerProps) {
  const last = vintages.length - 1;
  usePlay({ last, vintageNo, isPlaying, onVintage, onPlaying });
  const toggle = () => {
    if (!isPlaying && vintageNo === last) onVintage(0);
    onPlaying(!isPlaying && last > 0);
  };
  useSpace(toggle);
  const day = dayText(vintages[vintageNo] ?? '');
  const middle = vintages[Math.floor(last / 2)];
  return (
    <div class={isPlaying ? 'player playing' : 'player'}>
      <button
        class="play"
        type="button"
        disabled={last === 0}
        aria-label={isPlaying ? 'Pause' : 'Play the vintages'}
        onClick={toggle}
      >
        <svg viewBox="0 0 16 16" fill="currentColor" aria-hidden="true">
          <path d={isPlaying ? 'M4 2.5h3v11H4zM9 2.5h3v11H9z' : 'M4.5 2.2v11.6L14 8z'} />
        </svg>
      </button>
      <div class="track">
        <input
          type="range"
          aria-label="Vintage"
          min={0}
          max={last}
          step={1}
          value={vintageNo}
          disabled={last === 0}
          aria-valuetext={day}
          onInput={(event) => {
            onPlaying(false);
            onVintage(Number(event.currentTarget.value));
          }}
          onKeyDown={(event) => {
            const to = { PageUp: vintageNo + 10, PageDown: vintageNo - 10 }[event.key];
            if (to === undefined) return;
            event.preventDefault();
            onPlaying(false);
            onVintage(to);
          }}
        />
        {vintages.length <= ticksMost && (
          <div class="ticks" aria-hidden="true">
            {vintages.map((vintage, i) => (
              <i key={vintage} class={isFirstOfYear(vintages, i) ? 'first-of-year' : undefined} />
            ))}
          </div>
        )}
        <div class="ticklab" aria-hidden="true">
          <span>{dayText(vintages[0] ?? '')}</span>
          {last > 1 && middle !== undefined && <span class="hide-p">{dayText(middle)}</span>}
          {last > 0 && <span>{dayText(vintages[last] ?? '')}</span>}
        </div>
      </div>
      <p class="now" aria-live={isPlaying ? 'off' : 'polite'}>
        <span>As of</span>
        <b>{day}</b>
      </p>
    </div>
  );
}

function isFirstOfYear(vintages: readonly string[], at: number): boolean {
  return at > 0 && vintages[at]?.slice(0, 4) !== vintages[at - 1]?.slice(0, 4);
}

interface Play extends Omit<PlayerProps, 'vintages'> {
  last: number;
}

/** Advances with the browser's animation frames: a late frame skips vintages instead of slowing playback. */
function usePlay({ last, vintageNo, isPlaying, onVintage, onPlaying }: Play): void {
  const shown = useRef(vintageNo);
  shown.current = vintageNo;
  useEffect(() => {
    if (!isPlaying) return undefined;
    const perVintageMs = last < steppedUpTo ? stepMs : allMs / last;
    const start = { at: performance.now(), vintageNo: shown.current };
    let frame = requestAnimationFrame(function next(now) {
      const to = Math.min(last, start.vintageNo + Math.floor((now - start.at) / perVintageMs));
      if (to > shown.current) onVintage(to);
      if (to === last) onPlaying(false);
      else frame = requestAnimationFrame(next);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, last]);
}

/** Space plays, unless it belongs to a control: a button, a field, a link. */
function useSpace(toggle: () => void): void {
  const current = useRef(toggle);
  current.current = toggle;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.key !== ' ' || event.defaultPrevented || !(target instanceof HTMLElement)) return;
      const isRange = target instanceof HTMLInputElement && target.type === 'range';
      if (!isRange && target.closest('button, a, input, select, textarea, summary') !== null) return;
      event.preventDefault();
      current.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
