// The manifest, for each browser. What it does not ask for, the extension cannot do.

/** Only own scripts, styles and images; requests go to a collector, which the user has to permit as well. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src https: http://localhost:* http://127.0.0.1:*",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const ICONS = Object.fromEntries([16, 32, 48, 128].map((size) => [size, `icons/${size}.png`]));

/** What differs between the browsers: how the background is started, and the declarations that each one requires. */
const OWN = {
  chromium: {
    background: { service_worker: "background.js", type: "module" },
    minimum_chrome_version: "137", // the first one that verifies Ed25519
  },
  firefox: {
    background: { scripts: ["background.js"], type: "module" },
    browser_specific_settings: {
      gecko: {
        id: "blender-dp@example.org",
        strict_min_version: "142.0",
        data_collection_permissions: { required: ["searchTerms", "browsingActivity"] },
      },
    },
  },
};

/**
 * @param {"chromium" | "firefox"} browser
 * @param {string} version
 * @param {string[]} engines match patterns of the search engines' pages of results
 */
export function manifest(browser, version, engines) {
  return {
    manifest_version: 3,
    name: "__MSG_extensionName__",
    version,
    description: "__MSG_extensionDescription__",
    default_locale: "en",
    icons: ICONS,
    action: { default_popup: "popup.html", default_icon: ICONS },
    options_ui: { page: "options.html", open_in_tab: true },
    omnibox: { keyword: "bl" },
    incognito: "not_allowed",
    // unlimitedStorage keeps the browser from deleting the account under storage pressure: what was spent would be forgotten.
    permissions: ["alarms", "unlimitedStorage"],
    optional_host_permissions: ["https://*/*", "http://localhost/*", "http://127.0.0.1/*"],
    content_scripts: [{ matches: engines, js: ["content.js"], run_at: "document_start" }],
    content_security_policy: { extension_pages: POLICY },
    ...OWN[browser],
  };
}
