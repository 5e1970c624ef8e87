/** Exclusive locks: the next act starts when the one before has ended. */
export class Locks {
  readonly #last = new Map<string, Promise<unknown>>();

  request<T>(name: string, act: () => Promise<T>): Promise<T> {
    const result = (this.#last.get(name) ?? Promise.resolve()).then(act, act);
    this.#last.set(
      name,
      result.catch(() => {}),
    );
    return result;
  }
}
