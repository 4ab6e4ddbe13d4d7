import { findIdsInStates, listStored } from "../../../shared/artifacts/unnamed-store.ts";
import { artifactBlob, BlobsUnavailable } from "../../../shared/blobs/blobs.ts";
import { checkBlob } from "../../../shared/blobs/expected-content.ts";
import type { Services } from "../../../shared/services/services.ts";
import { showBytes } from "./bytes.ts";
import { type Finding, ok, problem } from "./finding.ts";

const check = "bytes of artifacts";
const pageRows = 500;
const maxNamed = 3;

/** Called after each artifact with what was read so far. */
export type OnRead = (artifacts: number, bytes: number) => void;

/** Reads the bytes of every stored artifact, newest first, and compares their checksums. It takes as long as the store does. */
export async function checkChecksums({ db, blobs }: Services, onRead: OnRead): Promise<Finding[]> {
  const named: string[] = [];
  let [read, bytes, wrong] = [0, 0, 0];
  try {
    for (let before: string | undefined; ; ) {
      const page = await listStored(db, { before, limit: pageRows });
      for (const { id, ...expected } of page) {
        const mismatch = await checkBlob(blobs, artifactBlob(id), expected);
        // It may have been deleted since its page was read.
        if (mismatch && (await findIdsInStates(db, [id], ["finished"])).size > 0) {
          wrong++;
          if (named.length < maxNamed) named.push(`${id} (${mismatch})`);
        }
        read++;
        bytes += expected.bytes;
        onRead(read, bytes);
      }
      if (page.length < pageRows) break;
      before = page.at(-1)?.id;
    }
  } catch (error) {
    if (!(error instanceof BlobsUnavailable)) throw error;
    return [
      problem(
        check,
        `After ${read} artifacts: ${error.message}`,
        "Look at the disk or the bucket of BLOB_URL",
      ),
    ];
  }
  const all = `${read} artifacts, ${showBytes(bytes)}`;
  if (wrong === 0) return [ok(check, `All checksums are right: ${all}`)];
  return [
    problem(
      check,
      `${blobs.place} lacks the bytes of ${wrong} of ${all}, or has others: ${named.join(", ")}`,
      "Look at the disk, delete these blobs and put them back from a backup: restore --artifacts leaves those alone whose size is right",
    ),
  ];
}
