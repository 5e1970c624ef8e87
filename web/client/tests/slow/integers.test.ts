import { expect, test } from "vitest";
import { channelOf } from "../../src/channel/subset.ts";
import { TwoStageChannel } from "../../src/channel/twoStage.ts";
import { canonicalJson } from "../../src/digests.ts";
import { ParameterError } from "../../src/errors.ts";
import { ReportingList } from "../../src/records/reportingList.ts";
import { python } from "../python.ts";

const CHANNELS = 300;

test(`${CHANNELS} random channels have the same integers as Python's`, () => {
  const lines = python("tests.web.channel_answers", [`${CHANNELS}`, "1"])
    .trimEnd()
    .split("\n");
  const different = lines.filter((line) => {
    const [document, expected] = JSON.parse(line);
    return canonicalJson(integers(document)) !== canonicalJson(expected);
  });
  expect(lines).toHaveLength(CHANNELS);
  expect(different).toEqual([]);
});

/** Null for a channel that leaves too little for one of the choices. */
function integers(document: unknown): unknown {
  const { headList, channel: settings } = ReportingList.fromDocument(document);
  try {
    const channel = channelOf(headList, settings);
    const steps = channel.urlSteps.map(String);
    return channel instanceof TwoStageChannel
      ? { queryStep: `${channel.queryStep}`, size: 1, steps }
      : { truth: `${channel.truth}`, size: channel.size, steps };
  } catch (error) {
    if (error instanceof ParameterError) return null;
    throw error;
  }
}
