import { storageOf } from "../../../shared/accounts/storage.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/services/services.ts";
import {
  cancelBulkRebuild,
  requireBulkRebuild,
  stateOf,
} from "../../../shared/triggers/bulk-rebuilds/ask.ts";
import type { BulkRebuild } from "../../../shared/triggers/bulk-rebuilds/store.ts";
import type { BulkRebuildFilter } from "../../../shared/vocabulary.ts";
import { loadTrigger } from "../address/trigger.ts";
import { State } from "../states/state.tsx";
import { PostButton } from "../ui/form.tsx";
import { type MemberRequest, memberAction, memberPage } from "../ui/member-page.ts";
import { addCrumbs } from "../ui/page-context.ts";
import { Fact } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { statusWords } from "./list.tsx";

/** GET …/rebuilds/:rebuild: its progress. */
export const bulkRebuildPage = memberPage(async (services, request) => {
  const { trigger, bulk } = await load(services, request);
  const state = stateOf(bulk);
  const isResting = state === "running" && storageOf(services.config, request.organization) === "full";
  return {
    title: "Deliveries built again",
    section: "pipelines",
    topics: [`trigger:${trigger.id}`],
    content: (
      <>
        <div class="heading">
          <h1>
            Deliveries built again <State state={state} kind={state === "finished" ? "passed" : state} />
          </h1>
          {state === "running" && (
            <div class="actions">
              <PostButton
                path={bulkRebuildPath(request, bulk, patterns.cancelBulkRebuildPage)}
                class="danger"
              >
                Cancel
              </PostButton>
            </div>
          )}
        </div>
        {isResting && (
          <p class="warning">It rests while the organization is at its limit, and goes on by itself.</p>
        )}
        <Facts
          bulk={bulk}
          creator={(await listUsersById(services.db, [bulk.createdById])).get(bulk.createdById)?.name}
        />
      </>
    ),
  };
});

/** POST …/cancel: the builds that were made stay. */
export const cancelBulkRebuildForm = memberAction(async (services, request) => {
  const { trigger, bulk } = await load(services, request);
  await cancelBulkRebuild(services, request.actor, trigger, bulk);
  return bulkRebuildPath(request, bulk);
});

/** GET …/cancel: signing in after the session ended leads here. */
export const redirectToBulkRebuild = memberPage(async (services, request) => {
  const { bulk } = await load(services, request);
  return bulkRebuildPath(request, bulk);
});

/** A sentence for the trigger's page while the bulk rebuild runs. */
export function RunningRebuild({ bulk, path }: { bulk: BulkRebuild; path: string }) {
  if (stateOf(bulk) !== "running") return null;
  return (
    <p>
      Deliveries are being built again: {doneOf(bulk).toLocaleString("en")} of{" "}
      {bulk.total.toLocaleString("en")} are done. <a href={path}>Show the progress</a>
    </p>
  );
}

/** The reason of none is none. */
function countWithReason(count: number, reason: string): string {
  return count === 0 ? "0" : `${count.toLocaleString("en")}: ${reason}`;
}

function Facts({ bulk, creator }: { bulk: BulkRebuild; creator: string | undefined }) {
  const done = doneOf(bulk);
  return (
    <>
      <p>
        <progress max={bulk.total} value={Math.min(done, bulk.total)} aria-label="Deliveries done" />{" "}
        {done.toLocaleString("en")} of {inWords(bulk.total)}
      </p>
      <dl class="facts panel">
        <Fact name="Deliveries" value={filterInWords(bulk.filter)} />
        <Fact name="Built again" value={bulk.built.toLocaleString("en")} />
        <Fact
          name="Left out"
          value={countWithReason(
            bulk.skipped,
            "the request is no longer kept, or the delivery is being processed",
          )}
        />
        <Fact
          name="Failed"
          value={countWithReason(bulk.failed, "a step of the pipeline has no queue to run on")}
        />
        <dt>Asked for</dt>
        <dd>
          <Time at={bulk.createdAt} /> by {creator ?? "somebody"}
        </dd>
        <Fact
          name={bulk.canceledAt ? "Canceled" : "Finished"}
          value={bulk.finishedAt && <Time at={bulk.finishedAt} />}
        />
      </dl>
    </>
  );
}

function doneOf({ built, skipped, failed }: BulkRebuild): number {
  return built + skipped + failed;
}

export function inWords(deliveries: number): string {
  return deliveries === 1 ? "1 delivery" : `${deliveries.toLocaleString("en")} deliveries`;
}

/** `status built, event push, from 2026-01-31 00:00 UTC` */
export function filterInWords({
  status,
  event,
  sentAs,
  receivedFrom,
  receivedTo,
}: BulkRebuildFilter): string {
  const minute = (time: string) => `${time.slice(0, 16).replace("T", " ")} UTC`;
  const parts = [
    status && `status ${statusWords[status]}`,
    event && `event ${event}`,
    sentAs && `sent as ${sentAs}`,
    receivedFrom && `from ${minute(receivedFrom)}`,
    receivedTo && `to ${minute(receivedTo)}`,
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : "all deliveries of the trigger";
}

/** @throws Refusal 404 */
async function load(services: Services, request: MemberRequest) {
  const { trigger } = await loadTrigger(services, request);
  const bulk = await requireBulkRebuild(services, trigger, request.parameter("rebuild"));
  addCrumbs(request.event, { text: "Built again", path: bulkRebuildPath(request, bulk) });
  return { trigger, bulk };
}

export function bulkRebuildPath(
  { organization, parameter }: Pick<MemberRequest, "organization" | "parameter">,
  { id, triggerId }: Pick<BulkRebuild, "id" | "triggerId">,
  pattern: PatternWith<"org" | "slug" | "trigger" | "rebuild"> = patterns.bulkRebuildPage,
): string {
  const parameters = { org: organization.slug, slug: parameter("slug"), trigger: triggerId };
  return pathTo(pattern, { ...parameters, rebuild: id });
}
