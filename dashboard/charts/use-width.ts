// The width of an element as it changes, so that a chart is drawn for the width at hand.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** @returns the ref of the element, and its width in whole pixels; 0 until it is known. */
export function useWidth<Element extends HTMLElement>() {
  const ref = useRef<Element>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    setWidth(Math.floor(element.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(element.clientWidth)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}
