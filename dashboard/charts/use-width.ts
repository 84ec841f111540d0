// The width that a chart has: charts are drawn for it, so that their text is never scaled.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** @param before the width until it is measured. */
export function useWidth<E extends Element>(before: number) {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(before);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const measure = () => setWidth(Math.max(200, Math.floor(element.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
