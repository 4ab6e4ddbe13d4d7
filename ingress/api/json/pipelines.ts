import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { countWorkOfPipelines } from "../../../shared/builds/reading/pipeline-counts-store.ts";
import {
  listLargeUnparsedPipelines,
  listPipelineSizes,
  listUnparsedPipelines,
} from "../../../shared/pipelines/answer-store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { takeMeasureTurn } from "../../http/downloads.ts";
import { inGroups } from "../../http/transfers/json-stream.ts";
import { writePipeline } from "./pipeline.ts";

/** Pipelines of this many bytes together are read at once. A larger one is read alone, off the event loop. */
const maxBytes = 64 * 1024;
/** Small pipelines that are read together. */
const maxAtOnce = 10;
const maxKeptLength = 2 * 1024 * 1024;

/** Writes the pipelines of an answer as JSON, in parts. Reads a megabyte at a time, and keeps a few. */
export class PipelineTexts {
  readonly #services: Services;
  readonly #organization: Organization;
  readonly #hasCounts: boolean;
  /** In the order of the answer. */
  readonly #sizes: ReadonlyMap<string, number>;
  readonly #kept = new Map<string, string[]>();
  #keptLength = 0;

  private constructor(
    services: Services,
    organization: Organization,
    { sizes, hasCounts }: { sizes: ReadonlyMap<string, number>; hasCounts: boolean },
  ) {
    this.#services = services;
    this.#organization = organization;
    this.#sizes = sizes;
    this.#hasCounts = hasCounts;
  }

  /**
   * @param ids of all pipelines of the answer, in its order
   * @param options.request its signal ends the wait for a turn
   * @throws the signal's reason
   */
  static async open(
    services: Services,
    organization: Organization,
    ids: readonly string[],
    { hasCounts = false, request }: { hasCounts?: boolean; request: { readonly signal: AbortSignal } },
  ): Promise<PipelineTexts> {
    const distinct = [...new Set(ids)];
    const measure = async () =>
      distinct.length === 0 ? [] : listPipelineSizes(services.db, { ids: distinct });
    // Postgres reads each text to measure it.
    const measured = await (distinct.length > 1
      ? takeMeasureTurn(organization.id, measure, request.signal)
      : measure());
    const bytesOf = new Map(measured.map(({ id, bytes }) => [id, bytes]));
    const sizes = new Map(distinct.map((id) => [id, bytesOf.get(id) ?? 0]));
    return new PipelineTexts(services, organization, { sizes, hasCounts });
  }

  /** The bytes of all pipelines of the answer, each once. */
  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /** Undefined if the pipeline was deleted. */
  async find(id: string): Promise<string[] | undefined> {
    if (!this.#kept.has(id)) await this.#load(id);
    return this.#kept.get(id);
  }

  /** The items of a list of all pipelines, with commas between them. Leaves out deleted pipelines. */
  async *writeList(): AsyncGenerator<string> {
    let comma = "";
    for (const id of this.#sizes.keys()) {
      const parts = await this.find(id);
      if (!parts) continue;
      yield comma;
      yield* parts;
      comma = ",";
    }
  }

  /** Loads a pipeline, and those behind it in the answer while they are small together. */
  async #load(first: string): Promise<void> {
    const { db, config, cipher } = this.#services;
    const all = [...this.#sizes.keys()];
    const index = all.indexOf(first);
    const missing = all.slice(index, index + maxAtOnce).filter((id) => !this.#kept.has(id));
    const sizeOf = (id: string) => this.#sizes.get(id) ?? 0;
    const [ids = []] = inGroups(missing, sizeOf, maxBytes);
    const isLarge = ids.some((id) => sizeOf(id) > maxBytes);

    if (this.#keptLength > maxKeptLength) this.#drop();
    const found = await (isLarge ? listLargeUnparsedPipelines : listUnparsedPipelines)(db, { ids });
    const counted = this.#hasCounts ? await countWorkOfPipelines(db, { ids }) : [];
    const countsOf = new Map(counted.map((counts) => [counts.id, counts]));
    const users = await listUsersById(
      db,
      found.map(({ createdById }) => createdById),
    );
    for (const pipeline of found) {
      const counts = countsOf.get(pipeline.id);
      const context = { config, cipher, users };
      const parts = await writePipeline(context, this.#organization, { ...pipeline, counts });
      this.#kept.set(pipeline.id, parts);
      this.#keptLength += parts.reduce((sum, part) => sum + part.length, 0);
    }
  }

  #drop(): void {
    this.#kept.clear();
    this.#keptLength = 0;
  }
}
