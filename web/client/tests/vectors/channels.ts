/** Replays the integers and the reports of both randomisers. */

import { Device } from "../../src/channel/device.ts";
import { channelOf } from "../../src/channel/subset.ts";
import { TwoStageChannel } from "../../src/channel/twoStage.ts";
import { ReportingList } from "../../src/records/reportingList.ts";
import { fromHex } from "./bytes.ts";
import type { Check } from "./replay.ts";

interface ChannelVectors {
  readonly cases: readonly Case[];
}

interface Case {
  readonly name: string;
  readonly head_list: unknown;
  readonly head_list_digest: string;
  readonly epsilon: string;
  readonly delta?: string;
  readonly m_c: number;
  readonly size?: number;
  readonly truth?: string;
  readonly query_step?: string;
  readonly url_steps: readonly string[];
  readonly reports: readonly { query: string | null; url: string | null; bytes: string; cells: readonly number[] }[];
}

export async function replayChannel({ cases }: ChannelVectors, check: Check): Promise<void> {
  for (const one of cases) {
    const list = ReportingList.fromDocument(one.head_list);
    const device = new Device(list, { epsilon: one.epsilon, delta: one.delta, mC: one.m_c });
    check(`${one.name}, digest`, await list.digest(), one.head_list_digest);
    check(`${one.name}, integers`, integers(list), expectedIntegers(one));
    for (const { query, url, bytes, cells } of one.reports) {
      const report = await device.answer(query, url, fromHex(bytes));
      check(`${one.name}, ${query} ${url} ${bytes}`, report, { headList: one.head_list_digest, cells });
    }
  }
}

function integers(list: ReportingList): unknown {
  const channel = channelOf(list.headList, list.channel);
  const steps = channel.urlSteps.map(String);
  return channel instanceof TwoStageChannel
    ? { queryStep: `${channel.queryStep}`, steps, size: 1 }
    : { truth: `${channel.truth}`, steps, size: channel.size };
}

function expectedIntegers({ truth, query_step, url_steps, size = 1 }: Case): unknown {
  return truth === undefined ? { queryStep: query_step, steps: url_steps, size } : { truth, steps: url_steps, size };
}
