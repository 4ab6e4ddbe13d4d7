import * as browsing from "../../../shared/artifacts/browse-store.ts";
import * as expiry from "../../../shared/artifacts/expiry-store.ts";
import * as artifacts from "../../../shared/artifacts/store.ts";
import { findIdsInStates } from "../../../shared/artifacts/unnamed-store.ts";
import type { Db, Tx } from "../../../shared/db/database.ts";
import { newId } from "../../../shared/ids.ts";
import * as records from "../../../shared/retention/records-store.ts";
import { sumTotalsOf } from "../../../shared/retention/totals-store.ts";
import { shared } from "./fill.ts";

const now = new Date(Date.UTC(2026, 0, 1, 1));
const early = new Date(Date.UTC(2026, 0, 1, 0, 1));
const ids = Array.from({ length: 20 }, (_, index) => newId(new Date(now.getTime() + index)));
const [id = ""] = ids;
const page = { limit: 30, offset: 0 };
const next = { ...page, after: { number: now.getTime(), id } };
const ofBuild = { buildId: id, jobId: undefined, state: undefined };
const ofJob = { ...ofBuild, jobId: id };

/** The statements of artifacts. */
export const artifactStatements: Record<string, (db: Db & Tx) => unknown> = {
  "an artifact": (db) => artifacts.findArtifact(db, id),
  "the artifacts of a batch": (db) => artifacts.listBatch(db, { jobId: id, batchId: id }),
  "the artifacts of a path in a batch": (db) =>
    artifacts.listOfPath(db, { jobId: id, batchId: id, path: "a" }),
  "some artifacts of a job": (db) => artifacts.listArtifactsOfJob(db, { jobId: id, ids }),
  "artifacts by id": (db) => artifacts.listArtifactsById(db, ids),
  "the size of a build's artifacts": (db) => artifacts.measureArtifacts(db, id),
  "a stored artifact": (db) => artifacts.setStoredIfOpen(db, { id, now: early }),
  "an artifact that comes in parts": (db) => artifacts.setUploadIfOpen(db, id, "upload"),
  "finished artifacts": (db) => artifacts.finishIfNew(db, { ids, now: early }),
  "failed artifacts": (db) => artifacts.failIfNew(db, ids),
  "artifacts that count no longer": (db) => artifacts.setUncounted(db, ids),
  "artifacts that were announced long ago": (db) => artifacts.listOpenBefore(db, early, 200),
  "open artifacts of jobs that have ended": (db) => artifacts.listOpenOfEndedJobs(db, 200),
  "artifacts to search": (db) => artifacts.listCandidates(db, id, { state: "finished", jobId: undefined }),
  "artifacts of a job to search": (db) => artifacts.listCandidates(db, id, { state: undefined, jobId: id }),
  "artifacts that name blobs": (db) => findIdsInStates(db, ids, ["new", "finished"]),
  "an artifact of a build": (db) => browsing.findArtifactOfBuild(db, id, id),
  "artifacts of a build": (db) => browsing.listArtifactsPage(db, ofBuild, page),
  "more artifacts of a build": (db) => browsing.listArtifactsPage(db, { ...ofBuild, state: "error" }, next),
  "artifacts of a job": (db) => browsing.listArtifactsPage(db, ofJob, next),
  "artifacts of a build by job": (db) => browsing.listArtifactsByJob(db, ofBuild, page),
  "artifacts of a job by path": (db) => browsing.listArtifactsByJob(db, ofJob, page),
  "the number of a build's artifacts": (db) => browsing.countArtifactsUpTo(db, ofBuild, 100),
  "artifacts to evict": (db) => expiry.listOldestFinished(db, shared.organization, 200),
  "expired artifacts": (db) => expiry.expireIfCounted(db, ids),
  "artifacts of purged builds": (db) => expiry.listOwnersOfBuilds(db, ids, 200),
  "purged artifacts": (db) => expiry.deleteArtifacts(db, ids),
  "a deleted artifact": (db) => expiry.deleteIfEnded(db, id),
  "the bytes of an organization's artifacts": (db) => sumTotalsOf(db, db.tables.artifactTotals, id),
  "the size of purged artifacts": (db) => records.measureCountedArtifactRows(db, ids, id),
  "the size of purged builds": (db) => records.measureBuilds(db, ids),
};
