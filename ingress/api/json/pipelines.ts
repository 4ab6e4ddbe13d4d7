import type { Organization } from "../../../shared/accounts/organization-store.ts";
import { countWorkOfPipelines } from "../../../shared/builds/pipeline-counts-store.ts";
import {
  listLargeUnparsedPipelines,
  listPipelineSizes,
  listUnparsedPipelines,
} from "../../../shared/pipelines/store.ts";
import type { Services } from "../../../shared/process/services.ts";
import { takePieceTurn } from "../../http/downloads.ts";
import { inGroups } from "../../http/transfers/json-stream.ts";
import { writePipeline } from "./pipeline.ts";

/** Pipelines of this many bytes together are read at once. A larger one is read alone, off the event loop. */
const maxBytes = 64 * 1024;
/** Pipelines of a list that are read together, while they are small. */
const maxAhead = 10;
const maxKeptLength = 2 * 1024 * 1024;

/** Writes the pipelines of an answer as JSON, in parts. Reads a megabyte at a time, and keeps a few. */
export class PipelineTexts {
  readonly #services: Services;
  readonly #organization: Organization;
  readonly #hasCounts: boolean;
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

  /** @param ids of all pipelines of the answer */
  static async open(
    services: Services,
    organization: Organization,
    ids: readonly string[],
    { hasCounts = false } = {},
  ): Promise<PipelineTexts> {
    const distinct = [...new Set(ids)];
    const measure = async () =>
      distinct.length === 0 ? [] : listPipelineSizes(services.db, { ids: distinct });
    // Postgres reads each text to measure it.
    const measured = await (distinct.length > 1 ? takePieceTurn(organization.id, measure) : measure());
    const sizes = new Map(measured.map(({ id, bytes }) => [id, bytes]));
    return new PipelineTexts(services, organization, { sizes, hasCounts });
  }

  /** The bytes of all pipelines of the answer, each once. */
  get bytes(): number {
    return [...this.#sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
  }

  /**
   * Undefined if the pipeline was deleted.
   * @param next ids of pipelines that are asked for after this one
   */
  async find(id: string, next: readonly string[]): Promise<string[] | undefined> {
    if (!this.#kept.has(id)) await this.#load([id, ...next]);
    return this.#kept.get(id);
  }

  /** Loads the first pipeline, and the next ones while they are small together. */
  async #load(wanted: readonly string[]): Promise<void> {
    const { db } = this.#services;
    const missing = [...new Set(wanted)].filter((id) => !this.#kept.has(id));
    const sizeOf = (id: string) => this.#sizes.get(id) ?? 0;
    const [ids = []] = inGroups(missing, sizeOf, maxBytes);
    const isLarge = ids.some((id) => sizeOf(id) > maxBytes);

    if (this.#keptLength > maxKeptLength) this.#drop();
    const found = await (isLarge ? listLargeUnparsedPipelines : listUnparsedPipelines)(db, { ids });
    const counted = this.#hasCounts ? await countWorkOfPipelines(db, { ids }) : [];
    const countsOf = new Map(counted.map((counts) => [counts.id, counts]));
    for (const pipeline of found) {
      const counts = countsOf.get(pipeline.id);
      const parts = await writePipeline(this.#services, this.#organization, { ...pipeline, counts });
      this.#kept.set(pipeline.id, parts);
      this.#keptLength += parts.reduce((sum, part) => sum + part.length, 0);
    }
  }

  #drop(): void {
    this.#kept.clear();
    this.#keptLength = 0;
  }
}

/** The items of a list, with commas between them. Leaves out pipelines that were deleted. */
export async function* writePipelines(texts: PipelineTexts, ids: readonly string[]): AsyncGenerator<string> {
  let comma = "";
  for (const [index, id] of ids.entries()) {
    const parts = await texts.find(id, ids.slice(index + 1, index + maxAhead));
    if (!parts) continue;
    yield comma;
    yield* parts;
    comma = ",";
  }
}
