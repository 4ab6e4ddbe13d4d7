import { type Actor, audit } from "../accounts/audit.ts";
import { auditSubject } from "../builds/reading/require.ts";
import type { Build } from "../builds/rows/build-store.ts";
import { buildTopics } from "../builds/rows/topics.ts";
import type { Db } from "../db/database.ts";
import { type ListedRows, type ListPage, listedRows } from "../db/list-page.ts";
import { secondMs } from "../durations.ts";
import { isId } from "../ids.ts";
import type { PipelineFacts } from "../pipelines/store.ts";
import { notFound, Refusal } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import {
  type ArtifactFilter,
  cursorOfArtifact,
  findArtifactOfBuild,
  listArtifactsPage,
} from "./browse-store.ts";
import { lockArtifactTotals, uncountArtifact } from "./counting.ts";
import { deleteIfEnded } from "./expiry-store.ts";
import { discardBytes } from "./fail.ts";
import { searchArtifacts } from "./search.ts";
import { downloadUrl } from "./signatures.ts";
import { type Artifact, listArtifactsById, setUncounted } from "./store.ts";

const addressMs = 60 * secondMs;

/** @param jobId undefined: of any job. @throws Refusal 404 */
export async function requireArtifact(
  db: Db,
  place: { buildId: string; jobId: string | undefined },
  id: string,
): Promise<Artifact> {
  const found = isId(id) ? await findArtifactOfBuild(db, place.buildId, id) : undefined;
  if (!found || (place.jobId !== undefined && found.jobId !== place.jobId)) throw notFound("artifact");
  return found;
}

/**
 * Lists artifacts in the order in which they were announced.
 * @param path may have `*`, which is any run of characters. Undefined: all
 */
export async function listArtifacts(
  db: Db,
  { path, ...filter }: ArtifactFilter & { path: string | undefined },
  page: ListPage,
): Promise<ListedRows<Artifact>> {
  if (path === undefined) return listArtifactsPage(db, filter, page);
  const all = { includesRetriedJobs: true, includesDuplicates: true };
  const query = { query: path, scope: filter.jobId, state: filter.state, ...all };
  const ids = await searchArtifacts(db, filter.buildId, query);
  const start = page.after ? ids.indexOf(page.after.id) + 1 : page.offset;
  const some = ids.slice(start, start + page.limit + 1);
  const rows = new Map((await listArtifactsById(db, some)).map((each) => [each.id, each]));
  const found = some.flatMap((id) => rows.get(id) ?? []);
  return listedRows(found, page, { total: ids.length, cursorOf: cursorOfArtifact });
}

/**
 * An address that needs no authentication, for a minute. One that an agent uploaded elsewhere has its own.
 * @throws Refusal 410, 404
 */
export function addressOfArtifact(
  services: Pick<Services, "cipher" | "clock" | "config">,
  { id, state, url, uploadDestination }: Artifact,
): string {
  if (state === "deleted" || state === "expired") throw new Refusal(410, `The artifact is ${state}`);
  if (state !== "finished") throw new Refusal(404, "The artifact has not been uploaded");
  if (uploadDestination === null) return downloadUrl(services, id, addressMs);
  const address = webAddress(url);
  if (address === undefined)
    throw new Refusal(404, `The artifact is at ${uploadDestination}, where its agent uploaded it`);
  return address;
}

/** An address as a header can have it: agents may send any text. Undefined: it is none of the web. */
export function webAddress(url: string | null): string | undefined {
  const parsed = URL.parse(url ?? "");
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : undefined;
}

/**
 * finished or error → deleted. Its row stays, and says so.
 * @throws Refusal 422
 */
export async function deleteArtifact(
  services: Services,
  actor: Actor,
  { build, pipeline }: { build: Build; pipeline: Pick<PipelineFacts, "slug"> },
  artifact: Artifact,
): Promise<void> {
  if (artifact.state === "new")
    throw new Refusal(422, "Artifact cannot be deleted: its upload has not ended");
  const deleted = await services.db.transaction(async (tx) => {
    await lockArtifactTotals(tx, [build.organizationId]);
    const found = await deleteIfEnded(tx, artifact.id);
    if (!found) return undefined; // it was deleted, or has expired
    if (found.isCounted) await uncountArtifact(tx, found);
    await setUncounted(tx, [found.id]);
    await audit(tx, actor, "deleted an artifact of", auditSubject(build, pipeline));
    return found;
  });
  if (!deleted) return;
  services.events.publish(buildTopics(build, []));
  await discardBytes(services, [deleted]);
}
