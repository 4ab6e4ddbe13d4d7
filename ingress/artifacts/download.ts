import { defineHandler, type EventHandler, HTTPResponse } from "h3";
import { maySignedDownload } from "../../shared/artifacts/signatures.ts";
import { type Artifact, findArtifact } from "../../shared/artifacts/store.ts";
import { artifactBlob } from "../../shared/blobs/blobs.ts";
import { isId } from "../../shared/ids.ts";
import { notFound, Refusal } from "../../shared/refusal.ts";
import type { Services } from "../../shared/services/services.ts";
import { blobBody } from "../http/downloads.ts";
import { keepOutOfLog } from "../http/request-context.ts";
import { pathParameter } from "../http/routing.ts";

/** Until the bucket answers: clients follow at once. */
const directSeconds = 300;

/**
 * GET /v3/artifacts/{id}/download?expires=…&signature=…. Whoever has the address may have the bytes; no cookie and no
 * token is looked at. Browsers keep what jobs wrote as a file, and run none of it.
 */
export function downloadArtifact(services: Services): EventHandler {
  const { blobs } = services;
  return defineHandler(async (event) => {
    const id = pathParameter(event, "id") ?? "";
    const { searchParams } = event.url;
    const expires = searchParams.get("expires") ?? "";
    const signature = searchParams.get("signature") ?? "";
    if (!maySignedDownload(services, { id, expires, signature }))
      throw new Refusal(403, "The address is not signed, or its time is over");
    const artifact = await requireBytes(services, id);

    const type = servedType(artifact.contentType);
    const disposition = dispositionOf(artifact.path);
    // A page may show pictures of our own address, and of no bucket's.
    const name = artifactBlob(id);
    if (blobs.direct && !searchParams.has("through")) {
      if (!(await blobs.find(name))) throw missingBytes(services, id);
      const answer = { seconds: directSeconds, contentType: type, contentDisposition: disposition };
      const location = await blobs.direct.signDownload(name, answer);
      return new HTTPResponse(null, { status: 302, headers: { location, ...unstored } });
    }
    const found = await blobs.read(name);
    if (!found) throw missingBytes(services, id);
    keepOutOfLog(event);
    return new HTTPResponse(await blobBody(event, artifact.organizationId, found), {
      headers: {
        "content-type": type,
        "content-length": String(found.bytes),
        "content-disposition": disposition,
        ...unstored,
        ...harmless,
      },
    });
  });
}

const unstored = { "cache-control": "private, no-store", "referrer-policy": "no-referrer" };
/** A page among the artifacts runs no script, and is of no origin. */
const harmless = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
};

/** @throws Refusal 404, 410 */
async function requireBytes({ db }: Services, id: string): Promise<Artifact> {
  const artifact = isId(id) ? await findArtifact(db, id) : undefined;
  if (!artifact || artifact.uploadDestination !== null) throw notFound("artifact");
  const isGone = artifact.state === "deleted" || artifact.state === "expired";
  if (isGone) throw new Refusal(410, `The artifact is ${artifact.state}`);
  if (artifact.state !== "finished") throw notFound("artifact");
  return artifact;
}

/** As after a restore without artifacts, or a change of BLOB_URL. A bucket would answer callers with a page of its own. */
function missingBytes({ blobs, log }: Services, artifactId: string): Refusal {
  log.error({ artifactId, store: blobs.place }, "the bytes of a finished artifact are missing; run doctor");
  return new Refusal(
    410,
    "The artifact's bytes are not in the store. The operator has to put them back, or to correct BLOB_URL",
  );
}

/** Agents name the type. It is no more than a hint, and no header of its own. */
function servedType(given: string): string {
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}(; *charset=[\w-]{1,40})?$/.test(given)
    ? given
    : "application/octet-stream";
}

/** RFC 6266: a plain name for all, and the whole one. */
function dispositionOf(path: string): string {
  const name = path.split(/[\\/]/).findLast((part) => part !== "") ?? "artifact";
  const plain = name.replaceAll(/[^\w.+-]/g, "_").slice(-100);
  const whole = encodeURIComponent(name.slice(-200).toWellFormed()).replaceAll(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
