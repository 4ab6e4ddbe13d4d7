import type { AcceptedJob } from "../agents/agent.ts";
import {
  download,
  findAddresses,
  makeContent,
  makeForm,
  openUploader,
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
const megabyte = 1024 ** 2;

/** A job uploads artifacts, at least one a connection. Returns the addresses of downloads, too. */
export async function upload(url: string, job: AcceptedJob, load: Load) {
  const content = makeContent(load.fileBytes);
  const count = load.fileBytes < megabyte ? batchSize : 1;
  const uploaders = Array.from({ length: load.connections }, () =>
    openUploader(url, job, { content, count }),
  );
  const moved = await keepMoving(
    load,
    (index) => uploaders[index]?.upload(),
    (index) => uploaders[index]?.finish(),
  );
  for (const uploader of uploaders) uploader.close();
  return { ...moved, addresses: await findAddresses(url, job) };
}

/** To the server by hand. */
export async function uploadFiles(url: string, load: Load) {
  const form = makeForm(`${url}/files`, {}, makeContent(load.fileBytes));
  const addresses: string[] = [];
  const moved = await keepMoving(load, async () => {
    const received = await sendForm(form);
    addresses.push(`${form.url}/${JSON.parse(received.start).name}`);
    return received;
  });
  return { ...moved, addresses };
}

export function downloadAll(addresses: string[], load: Load) {
  let next = 0;
  return keepMoving(load, async () => {
    const received = await download(addresses[next++ % addresses.length] as string);
    if (received.bytes !== load.fileBytes) throw new Error(`A download had ${received.bytes} bytes.`);
    return received;
  });
}

/** @param move moves a file on one of the connections. Returns the megabytes of all */
async function keepMoving(
  { connections, seconds, fileBytes }: Load,
  move: (index: number) => Promise<Received> | undefined,
  end: (index: number) => Promise<void> | undefined = async () => {},
) {
  const startedAt = performance.now();
  const passed = () => (performance.now() - startedAt) / 1000;
  let files = 0;
  const keep = async (_: unknown, index: number) => {
    do {
      const received = await move(index);
      if (received?.status !== 200) throw new Error(`An answer was ${received?.status}: ${received?.start}`);
      files++;
    } while (passed() < seconds);
    await end(index);
  };
  await Promise.all(Array.from({ length: connections }, keep));
  return { accepted: (files * fileBytes) / megabyte, seconds: passed() };
}
