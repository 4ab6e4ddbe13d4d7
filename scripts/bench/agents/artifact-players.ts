import { type AcceptedJob, AgentConnection } from "./agent.ts";
import {
  announce,
  download,
  findAddresses,
  finishArtifacts,
  makeContent,
  makeForm,
  type Received,
  sendForm,
} from "./artifacts.ts";

// Plays the programs that upload and download artifacts, in a process of its own.

export interface Load {
  fileBytes: number;
  connections: number;
  seconds: number;
}

/** Agents announce as many at once. */
const batchSize = 30;
const largeBytes = 1024 ** 2;

/**
 * A job announces artifacts, uploads them and says so, at least one a connection. Returns the addresses of downloads,
 * too.
 */
export async function upload(url: string, job: AcceptedJob, load: Load) {
  const content = makeContent(load.fileBytes);
  const count = load.fileBytes < largeBytes ? batchSize : 1;
  const moved = await keepMoving(load, async (isOver) => {
    const connection = await AgentConnection.open(url);
    let bytes = 0;
    do {
      const sent: string[] = [];
      for (const { id, form } of await announce(connection, job, { content, count })) {
        requireSuccess(await sendForm(form));
        sent.push(id);
        if (isOver()) break;
      }
      await finishArtifacts(connection, job, sent);
      bytes += sent.length * load.fileBytes;
    } while (!isOver());
    connection.close();
    return bytes;
  });
  return { ...moved, addresses: await findAddresses(url, job) };
}

/** To the server by hand. */
export async function uploadFiles(url: string, load: Load) {
  const form = makeForm(`${url}/files`, {}, makeContent(load.fileBytes));
  const addresses: string[] = [];
  const moved = await keepMoving(load, async (isOver) => {
    let bytes = 0;
    while (!isOver()) {
      const { start } = requireSuccess(await sendForm(form));
      addresses.push(`${form.url}/${JSON.parse(start).name}`);
      bytes += load.fileBytes;
    }
    return bytes;
  });
  return { ...moved, addresses };
}

export function downloadAll(addresses: string[], load: Load) {
  let next = 0;
  return keepMoving(load, async (isOver) => {
    let bytes = 0;
    while (!isOver()) {
      const received = requireSuccess(await download(addresses[next++ % addresses.length] as string));
      if (received.bytes !== load.fileBytes) throw new Error(`A download had ${received.bytes} bytes.`);
      bytes += received.bytes;
    }
    return bytes;
  });
}

/** @param move on one connection, until it is over. Returns the bytes that it moved */
async function keepMoving(
  { connections, seconds }: Load,
  move: (isOver: () => boolean) => Promise<number>,
): Promise<{ bytes: number; seconds: number }> {
  const startedAt = performance.now();
  const passed = () => (performance.now() - startedAt) / 1000;
  const isOver = () => passed() >= seconds;
  const moved = await Promise.all(Array.from({ length: connections }, () => move(isOver)));
  return { bytes: moved.reduce((sum, each) => sum + each), seconds: passed() };
}

function requireSuccess(received: Received): Received {
  if (received.status === 200) return received;
  throw new Error(`An answer was ${received.status}: ${received.start}`);
}
