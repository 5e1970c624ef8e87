/** The content script: runs in the top frame of search engines, and in no private window. */
import { engineAt } from "./results.ts";
import { watch } from "./watch.ts";

const engine = engineAt(new URL(location.href));

if (engine && window === window.top && !chrome.extension.inIncognitoContext) {
  watch(engine, document, (noticed) => {
    // Without a background (the extension was just updated or removed) there is nobody to pass it to, and nothing to do.
    chrome.runtime.sendMessage(noticed).catch(() => undefined);
  });
}
