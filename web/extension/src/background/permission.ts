/** The permission for the collector: the user can take it back at any time, and it is given back when it is not needed. */
import { StateError } from "@blender-dp/client";
import { hostPattern } from "../shared/permission.ts";

/** Refuse to continue without the permission. */
export async function requirePermission(collector: string): Promise<void> {
  if (await chrome.permissions.contains({ origins: [hostPattern(collector)] })) return;
  throw new StateError("permission", "for this collector is missing", "Open the invitation again and allow it", "forbidden");
}

/** Give the permission for a collector back. */
export async function returnPermission(collector: string): Promise<void> {
  await chrome.permissions.remove({ origins: [hostPattern(collector)] });
}
