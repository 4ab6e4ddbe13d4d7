import type { Blobs, DirectTransfers } from "../blobs.ts";
import { type BucketAddress, placeOf } from "./address.ts";

/** A bucket whose client is loaded with the first call: it is large, and most installations have none. */
export function openLater(address: BucketAddress): Blobs {
  let opened: Promise<Blobs> | undefined;
  const open = () => (opened ??= import("./bucket.ts").then(({ openBucket }) => openBucket(address)));
  const openDirect = async () => (await open()).direct as DirectTransfers;
  return {
    kind: "bucket",
    place: placeOf(address),
    write: async (...rest) => (await open()).write(...rest),
    read: async (...rest) => (await open()).read(...rest),
    find: async (...rest) => (await open()).find(...rest),
    delete: async (...rest) => (await open()).delete(...rest),
    list: async (...rest) => (await open()).list(...rest),
    discardUnfinished: async (...rest) => (await open()).discardUnfinished(...rest),
    close: async () => (await opened)?.close(),
    direct: address.isDirect
      ? {
          beginUpload: async (...rest) => (await openDirect()).beginUpload(...rest),
          completeUpload: async (...rest) => (await openDirect()).completeUpload(...rest),
          abortUpload: async (...rest) => (await openDirect()).abortUpload(...rest),
          signDownload: async (...rest) => (await openDirect()).signDownload(...rest),
        }
      : undefined,
  };
}
