/** Loading data into a page: state, errors in words, and repetition. */

import { useEffect, useState } from "preact/hooks";

/** What a page knows: data, the last problem, or neither yet. Old data stay visible while new data cannot be loaded. */
export interface Loaded<T> {
  readonly data?: T;
  readonly problem?: Error;
  readonly again: () => void;
}

/** Load something now, whenever `key` changes, and every so many seconds if that is set. */
export function useLoaded<T>(key: string, load: (signal: AbortSignal) => Promise<T>, seconds?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Error }>({ key });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const current = new AbortController(); // aborted when nobody waits for the result any more
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      try {
        const data = await load(current.signal);
        if (!current.signal.aborted) setState({ key, data });
      } catch (error) {
        const problem = error instanceof Error ? error : new Error(String(error));
        if (!current.signal.aborted)
          setState((old) =>
            old.key === key && old.data !== undefined ? { key, data: old.data, problem } : { key, problem },
          );
      }
      if (!current.signal.aborted && seconds) timer = setTimeout(run, 1000 * seconds);
    };
    run();
    return () => {
      current.abort();
      clearTimeout(timer);
    };
  }, [key, turn]);
  const again = () => setTurn((old) => old + 1);
  return state.key === key ? { ...state, again } : { again };
}
