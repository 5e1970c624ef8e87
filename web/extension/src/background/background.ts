/** The extension's background: the only part that talks to a collector. */

export { BlenderError } from "@blender-dp/client";
