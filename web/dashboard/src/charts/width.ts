/** The width that a chart has: drawn in real pixels, its text is as large on a phone as on a wide screen. */

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A reference for the chart's container, and its width; `first` until it is known. */
export function useWidth(first: number): [RefObject<HTMLElement | null>, number] {
  const place = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(first);
  useEffect(() => {
    if (!place.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.max(entry.contentRect.width, 200)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, width];
}
