import { ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import { hourMs } from "../../durations.ts";
import type { Unfinished } from "../blobs.ts";
import { abort } from "./direct.ts";
import type { Bucket } from "./object.ts";

const abandonedMs = hourMs;

/** Ends the uploads in parts that nobody awaits any more: their parts cost room, and no list of blobs has them. */
export async function discardUploads(all: Bucket, { now, findAwaited }: Unfinished): Promise<number> {
  const { bucket, prefix } = all;
  let discarded = 0;
  for (let from = {}; ; ) {
    const page = await all.client.send(
      new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...from }),
    );
    const old = (page.Uploads ?? []).filter(
      ({ Initiated }) => Initiated !== undefined && now.getTime() - Initiated.getTime() > abandonedMs,
    );
    const nameOf = (key = "") => key.slice(prefix.length);
    const awaited = await findAwaited(old.map(({ Key }) => nameOf(Key)));
    for (const { Key = "", UploadId = "" } of old) {
      if (awaited.has(nameOf(Key))) continue;
      await abort(all, Key, UploadId);
      discarded++;
    }
    if (!page.IsTruncated) return discarded;
    from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}
