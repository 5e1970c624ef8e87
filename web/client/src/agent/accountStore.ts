/**
 * The account in IndexedDB: durable before anything leaves, and changed by one tab or worker at a time.
 *
 * The lock is never held while waiting for the network, and opting out does not need it: nothing can prevent a user from
 * opting out. A database that disappears or fails while it is used is not opened again: the budget must not start anew.
 */

import { DocumentError, StateError } from "../errors.ts";
import { Account } from "./account.ts";

// Each has a store of its own, so that a transaction on one does not wait for the others.
const ACCOUNT = "account";
const OPT_OUT = "opted-out";
const BUNDLE = "bundle";

/** A signed bundle, and the digest by which other tabs notice that it has changed. */
export interface StoredBundle {
  readonly digest: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** An account, an opt-out and a bundle in one database. */
export class AccountStore {
  private constructor(
    private readonly name: string,
    private readonly database: IDBDatabase,
  ) {}

  /** Open the database of this name, or create it. */
  static async open(name: string): Promise<AccountStore> {
    if (!globalThis.isSecureContext || !navigator.locks) {
      throw new StateError("browser", "offers no locks, or this page is not secure", "Use https and a current browser");
    }
    const database = await stored(() => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => {
        for (const store of [ACCOUNT, OPT_OUT, BUNDLE]) request.result.createObjectStore(store);
      };
      return finished(request);
    });
    database.onversionchange = () => database.close(); // the user deletes it
    return new AccountStore(name, database);
  }

  /** Whether the user has opted out. */
  async optedOut(): Promise<boolean> {
    return (await this.#get(OPT_OUT, OPT_OUT)) !== undefined;
  }

  /** Store an opt-out permanently, without waiting for the lock. */
  async optOut(): Promise<void> {
    await this.#write([OPT_OUT], (transaction) => transaction.objectStore(OPT_OUT).put(true, OPT_OUT));
  }

  /** The account as stored. */
  async read(): Promise<Account> {
    return parsed(await this.#get(ACCOUNT, ACCOUNT));
  }

  /**
   * Change the account while it is locked: another tab of this device may have spent from it.
   *
   * What the rule has changed is stored even if it throws. Nothing else is awaited here, least of all the network.
   */
  async change<T>(rule: (account: Account) => T, bundle?: StoredBundle): Promise<T> {
    const locked = () => this.#change(rule, bundle);
    const { outcome } = await stored(() => navigator.locks.request(`blender-dp:${this.name}`, locked));
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }

  /** The digest of the stored bundle. */
  async bundleDigest(): Promise<unknown> {
    return await this.#get(BUNDLE, "digest");
  }

  /** The stored bundle's bytes. */
  async bundle(): Promise<unknown> {
    return await this.#get(BUNDLE, "body");
  }

  /** Delete the stored bundle; the account remembers its round. */
  async forgetBundle(): Promise<void> {
    await this.#write([BUNDLE], (transaction) => transaction.objectStore(BUNDLE).clear());
  }

  async #change<T>(rule: (account: Account) => T, bundle?: StoredBundle): Promise<Changed<T>> {
    let changed: Changed<T> | undefined;
    await this.#write(bundle ? [ACCOUNT, BUNDLE] : [ACCOUNT], (transaction) => {
      const accounts = transaction.objectStore(ACCOUNT);
      const request = accounts.get(ACCOUNT);
      request.onsuccess = guarded(transaction, () => {
        changed = applied(rule, request.result);
        if (changed.text !== undefined) accounts.put(changed.text, ACCOUNT);
        if (!bundle || "error" in changed.outcome) return;
        for (const [key, part] of Object.entries(bundle)) transaction.objectStore(BUNDLE).put(part, key);
      });
    });
    if (!changed) throw unreadable();
    return changed;
  }

  async #get(store: string, key: string): Promise<unknown> {
    return await stored(() => finished(this.database.transaction(store).objectStore(store).get(key)));
  }

  async #write(stores: string[], act: (transaction: IDBTransaction) => void): Promise<void> {
    await stored(() => {
      const transaction = this.database.transaction(stores, "readwrite", { durability: "strict" });
      act(transaction);
      return new Promise<void>((resolve, reject) => {
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
      });
    });
  }
}

function parsed(text: unknown): Account {
  return text === undefined ? new Account() : Account.parse(text);
}

/** What a rule has returned or thrown, and the account after it, if it has changed. */
interface Changed<T> {
  readonly outcome: { readonly value: T } | { readonly error: unknown };
  readonly text: string | undefined;
}

function applied<T>(rule: (account: Account) => T, text: unknown): Changed<T> {
  let [before, account]: [string, Account | undefined] = ["", undefined];
  let outcome: Changed<T>["outcome"];
  try {
    account = parsed(text);
    before = JSON.stringify(account);
    outcome = { value: rule(account) };
  } catch (error) {
    outcome = { error };
  }
  const after = JSON.stringify(account);
  return { outcome, text: after === before ? undefined : after };
}

/** An act that undoes the whole transaction if it fails. */
function guarded(transaction: IDBTransaction, act: () => void): () => void {
  return () => {
    try {
      act();
    } catch {
      transaction.abort();
    }
  };
}

/** Any failure of the browser's storage as an error of ours; its own text is for developers. */
async function stored<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch {
    throw unreadable();
  }
}

function unreadable(): DocumentError {
  return new DocumentError("account", "cannot be read or stored by the browser", "Nothing is sent; check its storage");
}

function finished<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
