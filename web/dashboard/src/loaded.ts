/** Loading data into a page: state, errors in words, and repetition. */

import { useEffect, useState } from "preact/hooks";

/** What a page knows: data, the last problem, or neither yet. Old data stay visible while new data cannot be loaded. */
export interface Loaded<T> {
  readonly data?: T;
  readonly problem?: Error;
  readonly again: () => void;
}

/** Load something now, whenever `key` changes, and every so many seconds if that is set. */
export function useLoaded<T>(key: string, load: () => Promise<T>, seconds?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string; data?: T; problem?: Error }>({ key });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let current = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const run = async () => {
      try {
        const data = await load();
        if (current) setState({ key, data });
      } catch (error) {
        const problem = error instanceof Error ? error : new Error(String(error));
        if (current)
          setState((old) =>
            old.key === key && old.data !== undefined ? { key, data: old.data, problem } : { key, problem },
          );
      }
      if (current && seconds) timer = setTimeout(run, 1000 * seconds);
    };
    run();
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, turn]);
  const again = () => setTurn((old) => old + 1);
  return state.key === key ? { ...state, again } : { again };
}
