// The width of an element as it changes, so that a chart is drawn for the width at hand and its text is never scaled.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** @param before the width until it is known. @returns the ref of the element, and its width in whole pixels. */
export function useWidth<E extends HTMLElement>(before = 0) {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(before);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    // An element without a layout, for example before its styles are loaded, has no width: the last known one stays.
    const measure = () => setWidth((known) => Math.floor(element.clientWidth) || known);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width] as const;
}
