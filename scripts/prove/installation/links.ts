import type { Scratch } from "../../scratch/scratch.ts";
import { openTcpProxy, type TcpProxy } from "../tcp-proxy.ts";

/** A connection of the installation's network, which faults can disturb. */
export interface Link {
  /** Such as `worker.1 → redis`. */
  name: string;
  proxy: TcpProxy;
}

export async function openLink(scratch: Scratch, name: string, port: number): Promise<Link> {
  const proxy = await openTcpProxy({ host: "127.0.0.1", port });
  scratch.onClose(() => proxy.close());
  return { name, proxy };
}

export function urlThrough(link: Link, url: string): string {
  const changed = new URL(url);
  changed.port = String(link.proxy.port);
  return changed.href;
}
