import { defineHandler, type EventHandler } from "h3";
import { Receiver } from "../../shared/artifacts/receive.ts";
import { readBatch } from "../../shared/artifacts/signatures.ts";
import { secondMs } from "../../shared/durations.ts";
import { Refusal, tooMany, unavailable } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { shares } from "../../shared/sharing/bounds.ts";
import { runFor } from "../../shared/sharing/owner.ts";
import { type ShareBound, Shares } from "../../shared/sharing/shares.ts";
import { type FileForm, type FileFormOptions, readFileForm } from "../http/transfers/file-form.ts";
import type { TransferRoom } from "../http/transfers/transfer.ts";
import type { UploadRefusals } from "../http/transfers/upload.ts";

/** The names of the parts of the form. */
export const uploadForm = { batch: "batch", path: "path", file: "file" } as const;

const graceMs = 10 * secondMs;
/** Agents try again ten times, after five seconds each, whatever the status is. */
const refusals: UploadRefusals = {
  tooSlow: () => new Refusal(408, "The file took too long to arrive"),
  tooMany: () => tooMany("Too many uploads of artifacts at once. Please wait 5 seconds."),
  overloaded: () => unavailable(),
};

/** POST /v3/artifacts/upload. A form with the token of a batch, a path and the file: stores its bytes. */
export function uploadArtifact(services: Services): EventHandler {
  const receiver = new Receiver(services);
  const roomOf = (bound: { max: number; shares: readonly ShareBound[] }): TransferRoom => ({
    shares: new Shares(bound),
    minBytesPerSecond: services.config.minUploadBytesPerSecond,
    graceMs,
  });
  const requireBatch = (token = "") => {
    const batch = readBatch(services, token);
    if (!batch) throw new Refusal(403, "The upload is not signed, or its time is over");
    return batch;
  };
  const receive = async ({ fields, content, admit }: FileForm) => {
    const batch = requireBatch(fields.get(uploadForm.batch));
    const artifact = await receiver.find(batch, fields.get(uploadForm.path) ?? "");
    admit(artifact.organizationId);
    await runFor(artifact.organizationId, () => receiver.store(artifact, content));
    return {};
  };
  const options: FileFormOptions = {
    fileField: uploadForm.file,
    checkField: (name, value) => void (name === uploadForm.batch && requireBatch(value)),
    heads: roomOf(shares.artifactHeads),
    files: roomOf(shares.artifactUploads),
    refusals,
  };
  return defineHandler((event) => readFileForm(event, options, receive));
}
