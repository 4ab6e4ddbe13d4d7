import { connectedProvidersIn } from "../../connections/connected.ts";
import type { Tx } from "../../db/database.ts";
import { findSharedValue, putSharedValue } from "../../db/shared-values-store.ts";
import { hourMs } from "../../durations.ts";
import type { Services } from "../../services/services.ts";
import { type ProviderId, providerOf, providers } from "../../sources/providers.ts";
import { endTasks, later, listTasks } from "../../tasks/store.ts";
import { followProvider } from "./webhook.ts";
import {
  listOrganizationsAfter,
  listPipelinesAfter,
  listWebhooks,
  lockPipelinesAlone,
  type PlaceOfPipeline,
} from "./webhook-store.ts";

const pipelinesAtOnce = 100;
const changedAtOnce = 20;
const organizationsAtOnce = 500;

interface Place {
  after: PlaceOfPipeline | undefined;
  /** The tasks that this run does. Later ones start another. */
  due: string[];
}

/**
 * Brings the webhooks of an organization's pipelines in line with their providers: after an upgrade, and when its own
 * hosts change. A task of the organization.
 */
export async function followProviders(
  { db, cipher }: Services,
  organizationId: string,
  place?: Place,
): Promise<Place | undefined> {
  return db.transaction(async (tx) => {
    const { after, due } = place ?? {
      after: undefined,
      due: await listTasks(tx, "providers", organizationId),
    };
    const batch = await listPipelinesAfter(tx, organizationId, after, pipelinesAtOnce);
    const other = await idsOfOther(tx, organizationId, batch);
    const changing = other.slice(0, changedAtOnce);
    for (const pipeline of await lockPipelinesAlone(tx, changing))
      await followProvider(tx, { cipher }, pipeline, { userId: pipeline.createdById });
    if (batch.length < pipelinesAtOnce && changing.length === other.length) {
      await endTasks(tx, due);
      return undefined;
    }
    const last = changing.length === other.length ? batch.at(-1) : batchBefore(batch, other[changedAtOnce]);
    return { after: last ?? after, due };
  });
}

type Listed = Awaited<ReturnType<typeof listPipelinesAfter>>;

/** The pipeline before one of a batch. */
function batchBefore(batch: Listed, id: string | undefined): Listed[number] | undefined {
  return batch[batch.findIndex((each) => each.id === id) - 1];
}

/** The pipelines whose webhook is not that of their provider. */
async function idsOfOther(tx: Tx, organizationId: string, batch: Listed): Promise<string[]> {
  const connected = await connectedProvidersIn(tx, organizationId);
  const webhooks = await listWebhooks(tx, { ids: batch.map(({ id }) => id) });
  const typeOf = new Map(webhooks.map(({ pipelineId, type }) => [pipelineId, type]));
  const wanted = (repository: string | null) => {
    const provider: ProviderId | null = providerOf(repository, connected);
    return provider === null ? undefined : providers[provider].triggerType;
  };
  return batch.flatMap(({ id, repository }) => (typeOf.get(id) === wanted(repository) ? [] : id));
}

const roundsName = "providers_followed";
/** Processes of the version before may make pipelines until they end: a second round finds these. */
const rounds = 2;
const betweenRoundsMs = hourMs;

interface Progress {
  /** Rounds that are over. */
  done: number;
  after?: string;
  endedAt?: number;
}

/** Makes webhooks due for the pipelines of versions that had none. Once it is done, this reads one row. */
export async function followProvidersOfAll({ db, clock }: Services): Promise<void> {
  const known = await findSharedValue(db, roundsName);
  let progress: Progress = known === undefined ? { done: 0 } : JSON.parse(known);
  const rests = () => clock.now().getTime() < (progress.endedAt ?? 0) + betweenRoundsMs;
  while (progress.done < rounds && !(progress.after === undefined && progress.endedAt && rests()))
    progress = await db.transaction((tx) => nextOrganizations(tx, progress));
}

async function nextOrganizations(tx: Tx, { done, after }: Progress): Promise<Progress> {
  const ids = await listOrganizationsAfter(tx, after, organizationsAtOnce);
  for (const id of ids) await later(tx, "providers", id, [id]);
  const last = ids.at(-1);
  const next =
    ids.length < organizationsAtOnce || last === undefined
      ? { done: done + 1, endedAt: tx.now.getTime() }
      : { done, after: last };
  await putSharedValue(tx, roundsName, JSON.stringify(next));
  return next;
}
