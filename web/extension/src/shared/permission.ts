/**
 * The permission to talk to one collector, which the user grants when the invitation is opened.
 *
 * No host is permitted at installation. Browsers only show the question in response to a click, and Firefox forgets the
 * click after the first `await`, so a page calls `requestCollector(readInvitation(text).collector)` first of all.
 */

/** The pattern that permits exactly the collector's host. Patterns with a port do not exist in Firefox. */
export function hostPattern(collector: string): string {
  const { protocol, hostname } = new URL(collector);
  return `${protocol}//${hostname}/*`;
}

/** Ask the user for permission to talk to this collector; false if the user refuses. */
export function requestCollector(collector: string): Promise<boolean> {
  return chrome.permissions.request({ origins: [hostPattern(collector)] });
}
