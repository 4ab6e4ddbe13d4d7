import { type LookupAddress, lookup } from "node:dns";
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { openOrder } from "../sharing/in-order.ts";

/** Looks up all addresses of a name. */
export type LookUp = (hostname: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/** Two tries take half of the time of a request: the second one waits for longer. */
const firstTryMs = 1500;
const tries = 2;
/** The name servers answered, and have no address of the name. */
const unknown = ["ENOTFOUND", "ENODATA"];
const fileOfHosts =
  process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

interface Ways {
  hosts?: string;
  /** Default: those of the system. */
  nameServers?: string[];
  tryMs?: number;
  bySystem?: (hostname: string) => Promise<LookupAddress[]>;
}

/**
 * Looks up names in the file of hosts, then at name servers, then as the system does, which knows other ways. The system
 * looks up two at a time, for ten seconds and more if name servers are silent. So nobody waits for it but those whom only
 * it may help: names that the servers do not have, one after the other, and beside them those of which they say nothing.
 */
export function openLookUp({
  hosts = fileOfHosts,
  nameServers,
  tryMs = firstTryMs,
  bySystem = askSystem,
}: Ways = {}): LookUp {
  const inOrder = openOrder();
  return async (hostname, signal) => {
    const listed = await findInFile(hosts, hostname);
    if (listed.length > 0) return listed;
    const resolver = new Resolver({ timeout: tryMs, tries });
    if (nameServers) resolver.setServers(nameServers);
    const { addresses, isUnknown } = await ask(resolver, hostname);
    if (addresses.length > 0) return addresses;
    return inOrder(isUnknown ? "unknown" : "silent", async () => {
      signal.throwIfAborted();
      return bySystem(hostname);
    });
  };
}

async function findInFile(path: string, hostname: string): Promise<LookupAddress[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    const isListed = names.some((name) => name.toLowerCase() === hostname);
    return isListed && isIP(address) > 0 ? { address, family: isIP(address) } : [];
  });
}

async function ask(resolver: Resolver, hostname: string) {
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  return {
    addresses: addresses.map((address) => ({ address, family: isIP(address) })),
    isUnknown: found.every((each) => each.status === "fulfilled" || unknown.includes(each.reason.code)),
  };
}

function askSystem(hostname: string): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(hostname, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}
