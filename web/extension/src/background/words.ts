/** What went wrong, in words for the user. */
import { BlenderError, ResponseError } from "@blender-dp/client";
import type { Problem } from "../shared/messages.ts";

const FAILED: Problem = { subject: "extension", problem: "has failed", fix: "Restart the browser" };

/**
 * The client's errors say it themselves, apart from a response of the collector: its text could tell the user anything, so
 * only its status is shown. Any other error is a failure of the extension.
 */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof BlenderError)) return FAILED;
  const { subject, problem, fix } = error;
  const status = error instanceof ResponseError ? `responds with ${error.status} (${error.kind})` : problem;
  return { subject, problem: status, fix };
}

/** The same as one text. */
export function inWords(error: unknown): string {
  const { subject, problem, fix } = problemOf(error);
  return `${subject}: ${problem}. ${fix}.`;
}
