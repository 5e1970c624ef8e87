/** How often things happen, in seconds. Tests replace this file in a build of their own. */

/** The mean time between two looks for a round: a few a day, so that a round of a day is not missed. */
export const PERIOD_SECONDS = 6 * 3600;

/** The minimum time between two rounds in which this device participates. */
export const ROUND_SECONDS = 86_400;

/** How long it takes to choose a record, at least. */
export const CHOICE_SECONDS = 1;
