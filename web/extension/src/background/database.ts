/**
 * The extension's own database. A background is stopped whenever it is idle, so nothing that matters is only in memory.
 *
 * Reading does not create the database: before consent there is none.
 */

const NAME = "blender-dp-extension";

/** The stores: settings, stored searches, what was chosen in each round, and the list of the last report. */
export type StoreName = "settings" | "records" | "choices" | "lists";

const STORES: StoreName[] = ["settings", "records", "choices", "lists"];

/** Read from these stores; `empty` if there is no database yet. */
export async function reading<T>(
  names: StoreName[],
  work: (transaction: IDBTransaction) => IDBRequest<T>,
  empty: T,
): Promise<T> {
  const database = await opened(false);
  if (!database) return empty;
  return finished(database, database.transaction(names), work);
}

/** Read and write these stores in one transaction, which is on disk when the promise resolves. */
export async function writing(names: StoreName[], work: (transaction: IDBTransaction) => void): Promise<void> {
  const database = await opened(true);
  if (!database) return;
  await finished(database, database.transaction(names, "readwrite", { durability: "strict" }), (transaction) => {
    work(transaction);
    return null;
  });
}

async function finished<T>(
  database: IDBDatabase,
  transaction: IDBTransaction,
  work: (transaction: IDBTransaction) => IDBRequest<T> | null,
): Promise<T> {
  try {
    return await new Promise((resolve, reject) => {
      const request = work(transaction);
      transaction.oncomplete = () => resolve(request?.result as T);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

function opened(create: boolean): Promise<IDBDatabase | null> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    let absent = false;
    request.onupgradeneeded = () => {
      absent = !create;
      if (create) createStores(request.result);
      else request.transaction?.abort(); // which leaves no database behind
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => (absent ? resolve(null) : reject(request.error));
  });
}

function createStores(database: IDBDatabase): void {
  for (const name of STORES) {
    const store = database.createObjectStore(name, name === "records" ? { keyPath: ["query", "url"] } : {});
    if (name === "records" || name === "choices") store.createIndex("time", "time");
    if (name === "records") store.createIndex("first", "first");
  }
}
