/**
 * The only source of randomness: the browser's cryptographic generator.
 *
 * Everything private starts here. A test refuses other sources in the rest of the client and in the extension.
 */

const MOST_AT_ONCE = 65_536; // what getRandomValues fills in one call

/** Return `count` unpredictable bytes, or throw what the browser throws; there is no fallback. */
export function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  for (let start = 0; start < count; start += MOST_AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(start, start + MOST_AT_ONCE));
  }
  return bytes;
}
