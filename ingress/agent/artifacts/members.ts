import { z } from "zod";
import type { AnnouncedArtifact } from "../../../shared/artifacts/announce.ts";
import type { Report } from "../../../shared/artifacts/report.ts";
import type { UploadedPart } from "../../../shared/blobs/blobs.ts";
import { listOf } from "../../../shared/collections.ts";
import { isId, lowerCaseId } from "../../../shared/ids.ts";
import * as field from "../../../shared/presenters/fields.ts";
import { isStorable } from "../../../shared/validation.ts";
import { reportedText } from "../../operations/reported.ts";

// Members of the calls for artifacts.

const maxBatch = 100;
/** Of one artifact: agents send no larger files as a form, and no larger ones in parts. */
const maxBytes = 5 * 1024 ** 3;
const maxPathBytes = 4096;
/** A bucket has no more for a file. */
const maxParts = 10_000;
const unknownType = "application/octet-stream";

function storable(name: string) {
  return z
    .string({ error: `${name} must be text` })
    .refine((given) => Buffer.byteLength(given) <= maxPathBytes, `${name} is larger than 4,096 bytes`)
    .refine(isStorable, `${name} must be text without NUL`);
}

/** Clients send blank text for none. */
function optional<Schema extends z.ZodType<string>>(schema: Schema) {
  return schema.nullish().transform((given) => given || null);
}

function hex(name: string, digits: number) {
  const error = `${name} must have ${digits} hexadecimal digits`;
  return z
    .string({ error })
    .regex(new RegExp(`^[0-9a-f]{${digits}}$`, "i"), error)
    .transform((given) => given.toLowerCase());
}

function uuid(name: string) {
  const error = `${name} must be a UUID`;
  return z
    .string({ error })
    .transform(lowerCaseId)
    .refine((id) => isId(id), error);
}

const sizeError = "file_size must be a whole number of bytes, at most 5 GB";
const announced = z
  .object({
    path: storable("path").refine((given) => given !== "", "path can't be blank"),
    absolute_path: optional(storable("absolute_path")),
    glob_path: optional(storable("glob_path")),
    file_size: z.int({ error: sizeError }).min(0, sizeError).max(maxBytes, sizeError),
    sha1sum: hex("sha1sum", 40),
    sha256sum: z.union([z.literal(""), hex("sha256sum", 64)]).nullish(),
    content_type: optional(storable("content_type")),
    url: optional(storable("url")).meta({ description: "At a destination of its own" }),
  })
  .transform(
    (given): AnnouncedArtifact => ({
      path: given.path,
      absolutePath: given.absolute_path ?? given.path,
      globPath: given.glob_path,
      size: given.file_size,
      sha1: given.sha1sum,
      sha256: given.sha256sum || null,
      contentType: given.content_type ?? unknownType,
      url: given.url,
    }),
  );
const batchError = `artifacts must be a list of 1 to ${maxBatch}`;
export const batch = z.object({
  id: uuid("id").meta({ description: "Made by the caller. The same batch again changes nothing" }),
  artifacts: listOf(announced, { error: batchError, max: maxBatch }).refine(
    (given) => given.length > 0,
    batchError,
  ),
  upload_destination: optional(storable("upload_destination")).meta({
    description: "The agent uploads there by itself. Absent and blank: here",
  }),
  multipart_supported: z.boolean().nullish(),
});
export const instructions = z.object({
  data: z.record(z.string(), z.string()),
  action: z.object({ url: field.url, method: z.string(), path: z.string(), file_input: z.string() }),
});
const partsOfArtifact = z.object({
  actions: z.array(z.object({ url: field.url, method: z.string(), part_number: z.int() })),
});
export const accepted = z.object({
  id: field.id,
  artifact_ids: z.array(field.id).meta({ description: "In the order of the artifacts" }),
  upload_instructions: instructions
    .nullable()
    .meta({ description: "The form with which each file is uploaded. Null: the agent uploads by itself" }),
  per_artifact_instructions: z.record(z.string(), partsOfArtifact).optional().meta({
    description: "By id: where the parts of large files are put instead, if the caller can send them",
  }),
});
const maxEtagLength = 1000;
/** Anything but `finished` is an error. Parts and reports that cannot be read are left out: the others count. */
const report = z.object({
  id: reportedText(100).transform((id) => lowerCaseId(id ?? "")),
  state: reportedText(100).transform((state): Report["state"] =>
    state?.toLowerCase() === "finished" ? "finished" : "error",
  ),
  multipart_etags: z.unknown().optional().transform(readParts).meta({
    description: "A list of objects with part_number and etag, 10,000 at most",
  }),
});
export const reports = z.object({
  artifacts: listOf(report.nullable().catch(null), {
    error: "artifacts must be a list",
    max: 10 * maxBatch,
    tooMany: `artifacts can be ${10 * maxBatch} at most`,
  })
    .nullish()
    .transform((given) => (given ?? []).filter((each) => each !== null).filter(({ id }) => isId(id))),
});

function readParts(given: unknown): UploadedPart[] | undefined {
  if (!Array.isArray(given)) return undefined;
  return given.slice(0, maxParts).flatMap((part): UploadedPart[] => {
    const partNumber = Number(part?.part_number);
    const etag = part?.etag;
    const isSound = Number.isInteger(partNumber) && partNumber >= 1 && typeof etag === "string";
    return isSound && etag.length <= maxEtagLength ? [{ partNumber, etag }] : [];
  });
}
