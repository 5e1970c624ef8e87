/**
 * Every error that the client throws on purpose.
 *
 *     BlenderError               subject, problem, fix
 *     ├── ParameterError         a value is out of range; the subject is the field
 *     ├── DocumentError          a stored or received document is invalid; the subject is its source
 *     └── StateError             the current state does not allow the request; `kind` says why
 *         ├── NoResponseError    the collector does not respond, or not in time
 *         └── ResponseError      the collector refuses, with this HTTP `status`
 *             └── BusyError      the collector is busy: try again after `seconds`
 *
 * Each message says what is wrong with which subject, and how to fix it. None of them depends on a user's record.
 * Names are written out because a minified class has none.
 */

/** Why the current state does not allow a request. */
export type Kind = "conflict" | "missing" | "forbidden";

/** The base of every error that the client throws on purpose. */
export class BlenderError extends Error {
  override name = "BlenderError";

  constructor(
    readonly subject: string,
    readonly problem: string,
    readonly fix: string,
  ) {
    super(`${subject}: ${problem}. ${fix}.`);
  }
}

/** A parameter lies outside its range. */
export class ParameterError extends BlenderError {
  override name = "ParameterError";
}

/** A stored or received document does not follow its schema. */
export class DocumentError extends BlenderError {
  override name = "DocumentError";
}

/** The current state does not allow the request: `kind` says why. */
export class StateError extends BlenderError {
  override name = "StateError";

  constructor(
    subject: string,
    problem: string,
    fix: string,
    readonly kind: Kind = "conflict",
  ) {
    super(subject, problem, fix);
  }
}

/** The collector does not respond, or not in time. */
export class NoResponseError extends StateError {
  override name = "NoResponseError";
}

/** The collector refuses, with this HTTP `status`. */
export class ResponseError extends StateError {
  override name = "ResponseError";

  constructor(
    subject: string,
    problem: string,
    fix: string,
    readonly status: number,
    kind: Kind = "conflict",
  ) {
    super(subject, problem, fix, kind);
  }
}

/** The collector is busy: try again after `seconds`. */
export class BusyError extends ResponseError {
  override name = "BusyError";

  constructor(
    subject: string,
    problem: string,
    fix: string,
    status: number,
    readonly seconds: number,
  ) {
    super(subject, problem, fix, status);
  }
}
