/** What went wrong, in words for the user. */
import { BlenderError } from "@blender-dp/client";

/** The client's errors say it themselves; any other is a failure of the extension. */
export function inWords(error: unknown): string {
  return error instanceof BlenderError ? error.message : "extension: has failed. Restart the browser.";
}
