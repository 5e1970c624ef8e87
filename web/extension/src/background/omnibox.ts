/** Search in the address bar, offline: suggestions from the verified results, and the page of the one that is chosen. */
import type { Suggestion } from "../shared/messages.ts";
import { webAddress } from "../shared/webAddress.ts";
import { results } from "./participant.ts";

const SHOWN = 8;
const SPECIAL: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Whether descriptions are XML, as in Chromium; in Firefox they are plain text. */
const IS_XML = !chrome.runtime.getURL("").startsWith("moz-extension:");

/** Text that may stand in XML: control characters cannot, not even escaped. */
export function escapedXml(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, "").replace(/[&<>"']/g, (special) => SPECIAL[special] ?? "");
}

/** The suggestions for these rows: each query with its most popular page. */
export function suggested(rows: Suggestion[], xml = IS_XML): chrome.omnibox.SuggestResult[] {
  return rows.flatMap(({ query, share, urls }) => {
    const content = urls.map(([url]) => webAddress(url)).find((url) => url !== null);
    if (!content) return [];
    const percent = `${(100 * share).toFixed(2)} %`;
    const description = xml
      ? `<match>${escapedXml(query)}</match> <url>${escapedXml(content)}</url> <dim>${percent}</dim>`
      : `${query} – ${content} (${percent})`;
    return [{ content, description }];
  });
}

// Read once for all keystrokes of a search: each of them is then answered from memory.
let read: ReturnType<typeof results> | null = null;

/** Register the listeners. */
export function registerOmnibox(): void {
  chrome.omnibox.setDefaultSuggestion({ description: chrome.i18n.getMessage("omniboxHint") });
  chrome.omnibox.onInputStarted.addListener(() => {
    read = results();
  });
  chrome.omnibox.onInputChanged.addListener(async (typed, suggest) => suggest(await suggestions(typed)));
  chrome.omnibox.onInputCancelled.addListener(forget);
  chrome.omnibox.onInputEntered.addListener(open);
}

async function suggestions(typed: string): Promise<chrome.omnibox.SuggestResult[]> {
  read ??= results();
  return suggested((await read)?.matching(typed, SHOWN) ?? []);
}

function forget(): void {
  read = null;
}

/** Open the chosen suggestion, or the first one for what was typed. */
async function open(entered: string, disposition: `${chrome.omnibox.OnInputEnteredDisposition}`): Promise<void> {
  const url = webAddress(entered) ?? (await suggestions(entered))[0]?.content;
  forget();
  if (!url) return;
  if (disposition === "currentTab") await chrome.tabs.update({ url });
  else await chrome.tabs.create({ url, active: disposition === "newForegroundTab" });
}
