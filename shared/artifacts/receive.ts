import { artifactBlob, type Blobs, BlobsUnavailable, type Mismatch, NoRoomForBlob } from "../blobs/blobs.ts";
import { Refusal, retryAfter, unavailable } from "../refusal.ts";
import type { Services } from "../services/services.ts";
import { type Gatherer, openGatherers } from "../sharing/gatherer.ts";
import { writes } from "../sharing/resources.ts";
import { takeOwnTurn } from "../sharing/turns.ts";
import { discardBytes } from "./fail.ts";
import type { BatchKey } from "./signatures.ts";
import { type Artifact, findArtifact, listBatch, listOfPath, setStoredIfOpen } from "./store.ts";

/** Stores the bytes of artifacts that come through this process. */
export class Receiver {
  readonly #services: Services & { blobs: Blobs };
  /** Artifacts whose bytes this process receives now: simultaneous uploads of one path fill different artifacts. */
  readonly #arriving = new Set<string>();
  /** Returns false for an artifact that was not open. Those of an organization that come together share a commit. */
  readonly #storedIfOpen: Pick<Gatherer<Artifact, boolean>, "add">;

  constructor(services: Services & { blobs: Blobs }) {
    this.#services = services;
    this.#storedIfOpen = openGatherers(({ organizationId }) => organizationId, {
      flush: (artifacts) =>
        services.db.transaction(async (tx) => {
          const ids = artifacts.map(({ id }) => id);
          const stored = new Set((await setStoredIfOpen(tx, { ids, now: tx.now })).map(({ id }) => id));
          return ids.map((id) => stored.has(id));
        }),
    });
  }

  /**
   * The artifact of a batch that an upload is for: the first with its path whose bytes are not here.
   * @throws Refusal 404, 422
   */
  async find(batch: BatchKey, path: string): Promise<Artifact> {
    const { db } = this.#services;
    const named = path.includes("\0") ? [] : await listOfPath(db, { ...batch, path });
    const found = named.length > 0 ? named : (await listBatch(db, batch)).filter(hasPath(path));
    const isOpen = ({ state, storedAt }: Artifact) => state === "new" && storedAt === null;
    const open = found.filter(isOpen);
    const artifact = open.find(({ id }) => !this.#arriving.has(id)) ?? open[0] ?? found[0];
    if (!artifact) throw new Refusal(404, "No artifact of this path was announced");
    if (artifact.uploadDestination !== null)
      throw new Refusal(422, "The artifact has a destination of its own");
    if (!isStoredOrOpen(artifact)) throw new Refusal(422, `The artifact is ${artifact.state} already`);
    return artifact;
  }

  /**
   * Reads the content to its end, and stores it. Does not read it if the artifact has its bytes already.
   * @throws Refusal 422, 503, 507; what the content throws
   */
  async store(artifact: Artifact, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { id, size: bytes, sha1, sha256 } = artifact;
    if (artifact.storedAt !== null) return;
    this.#arriving.add(id);
    try {
      const mismatch = await this.#write(artifactBlob(id), content, { bytes, sha1, sha256 });
      if (mismatch) throw new Refusal(422, sentences[mismatch]);
      await this.#setStored(artifact);
    } finally {
      this.#arriving.delete(id);
    }
  }

  async #write(...[name, content, expected]: Parameters<Blobs["write"]>): Promise<Mismatch | undefined> {
    const { blobs, log } = this.#services;
    const isOver = Promise.withResolvers<void>();
    try {
      const arriving = blobs.kind === "files" ? endInTurn(content, isOver.promise) : content;
      return await blobs.write(name, arriving, expected);
    } catch (error) {
      if (!(error instanceof BlobsUnavailable)) throw error;
      log.error({ err: error }, "an artifact could not be stored");
      if (error instanceof NoRoomForBlob)
        throw new Refusal(507, "There is no room for artifacts: the operator has to make some", {
          headers: retryAfter(),
        });
      throw unavailable();
    } finally {
      isOver.resolve();
    }
  }

  /** @throws Refusal 422 if nobody wants it any more */
  async #setStored(artifact: Artifact): Promise<void> {
    if (await this.#storedIfOpen.add(artifact)) return;
    const { id } = artifact;
    const present = await findArtifact(this.#services.db, id);
    if (present && isStoredOrOpen(present)) return; // the same upload, repeated
    await discardBytes(this.#services, [{ id, uploadId: null }]);
    throw new Refusal(422, "The artifact was given up meanwhile");
  }
}

/** The content ends once its owner has a turn, which lasts until it is stored: then the store syncs what it got. */
async function* endInTurn(content: AsyncIterable<Uint8Array>, isOver: Promise<void>) {
  yield* content;
  await new Promise<void>((begin, refuse) => {
    const untilOver = () => {
      begin();
      return isOver;
    };
    takeOwnTurn(writes, untilOver).catch(refuse);
  });
}

const sentences: Record<Mismatch, string> = {
  size: "The file has another size than was announced",
  sha1: "The file has another SHA-1 than was announced: it changed meanwhile, or was damaged on its way",
  sha256: "The file has another SHA-256 than was announced: it changed meanwhile, or was damaged on its way",
};

function isStoredOrOpen({ state }: Artifact): boolean {
  return state === "new" || state === "finished";
}

/** A name that is not UTF-8 comes in JSON and in a form, with different numbers of replacement characters. */
function hasPath(uploaded: string): (artifact: Artifact) => boolean {
  const once = (path: string) => path.replaceAll(/\ufffd+/g, "\ufffd");
  return ({ path }) => once(path) === once(uploaded);
}
