/** The part of blender-dp that runs in a browser: it verifies, randomises, accounts, sends and searches. */

export { randomBytes } from "./entropy.ts";
export {
  BlenderError,
  BusyError,
  DocumentError,
  type Kind,
  NoResponseError,
  ParameterError,
  ResponseError,
  StateError,
} from "./errors.ts";
