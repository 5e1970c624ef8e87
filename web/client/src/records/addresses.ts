/** IP addresses: whether one is private, or is not an address at all. Networks are compared as prefixes of bits. */

import { PRIVATE_NETWORKS_4, PRIVATE_NETWORKS_6 } from "../generated/names.ts";

/** Whether this is anything but the IPv4 address of a public host: four decimal numbers without leading zeros. */
export function isPrivateIpv4(text: string): boolean {
  const bits = ipv4Bits(text);
  return bits === null || PRIVATE_NETWORKS_4.some((network) => bits.startsWith(network));
}

/** Whether this is anything but the IPv6 address of a public host. A zone (%) names one of this machine's own networks. */
export function isPrivateIpv6(text: string): boolean {
  const bits = ipv6Bits(text);
  return bits === null || PRIVATE_NETWORKS_6.some((network) => bits.startsWith(network));
}

function ipv4Bits(text: string): string | null {
  const parts = text.split(".");
  const isAddress = parts.length === 4 && parts.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256);
  return isAddress ? parts.map((part) => binary(Number(part), 8)).join("") : null;
}

function ipv6Bits(text: string): string | null {
  const [, before = "", last = ""] = /^(.*:)(.*)$/s.exec(text) ?? [];
  const embedded = last.includes(".") ? ipv4Bits(last) : null;
  if (last.includes(".")) return embedded === null ? null : ipv6Bits(before + hextets(embedded));
  const [left = "", right, ...more] = text.split("::");
  const groups = [left, right ?? ""].map((half) => (half === "" ? [] : half.split(":")));
  const count = groups.flat().length;
  const isAddress =
    more.length === 0 &&
    groups.flat().every((group) => /^[0-9a-f]{1,4}$/.test(group)) &&
    (right === undefined ? count === 8 : count < 8);
  return isAddress
    ? groups
        .map((half) => half.map((group) => binary(Number.parseInt(group, 16), 16)).join(""))
        .join("0".repeat(128 - 16 * count))
    : null;
}

/** 32 bits as the last two groups of an IPv6 address. */
function hextets(bits: string): string {
  return [bits.slice(0, 16), bits.slice(16)].map((half) => Number.parseInt(half, 2).toString(16)).join(":");
}

function binary(number: number, width: number): string {
  return number.toString(2).padStart(width, "0");
}
