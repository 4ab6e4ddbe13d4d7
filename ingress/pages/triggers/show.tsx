import { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import { listBuildsOfDeliveries } from "../../../shared/builds/store.ts";
import { type PatternWith, pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { deliveriesUsed } from "../../../shared/triggers/deliveries/limit.ts";
import { refusalsKeptSince } from "../../../shared/triggers/deliveries/refusal-counts.ts";
import { listRefusalCounts } from "../../../shared/triggers/deliveries/refusal-counts-store.ts";
import { listDeliveriesPage } from "../../../shared/triggers/deliveries/store.ts";
import { environmentOf } from "../../../shared/triggers/settings.ts";
import { findTriggerType } from "../../../shared/triggers/types.ts";
import { linkIdPages, readIdPage, splitPage } from "../../http/cursor-pager.ts";
import { Deliveries } from "../deliveries/list.tsx";
import { AuditList } from "../organization/audit-list.tsx";
import { PostButton } from "../ui/form.tsx";
import { eventsPath } from "../ui/live.ts";
import { type MemberRequest, memberPage } from "../ui/member-page.ts";
import { CursorPager } from "../ui/pager.tsx";
import { PublicPreview, State } from "../ui/tables.tsx";
import { TriggerFacts } from "./facts.tsx";
import { loadTrigger, triggerPath } from "./load.ts";
import { Refused } from "./refused.tsx";

const perPage = 20;
const cursorNames = { older: "after", newer: "before" };
const maxRefused = 50;
const maxAuditEntries = 10;

/** GET /organizations/:org/pipelines/:slug/triggers/:trigger: what it is, and what came. */
export function triggerPage(services: Services) {
  return memberPage(services, async (request) => {
    const { organization, visitor } = request;
    const read = await readTrigger(services, request);
    const { pipeline, trigger, page, audit } = read;
    const now = services.clock.now();
    const path = (pattern: PatternWith<"org" | "slug" | "trigger">) => triggerPath(request, trigger, pattern);
    const links = linkIdPages(path(patterns.triggerPage), cursorNames, page);
    const parameters = { org: organization.slug, slug: pipeline.slug, trigger: trigger.id };
    return {
      title: trigger.label,
      within: { organization, section: "pipelines" },
      events: eventsPath(services, visitor, [`trigger:${trigger.id}`]),
      content: (
        <>
          <p class="back">
            <a href={pathTo(patterns.triggersPage, parameters)}>Triggers of {pipeline.name}</a>
          </p>
          <div class="heading">
            <h1>
              {trigger.label} <State state={trigger.enabled ? "enabled" : "disabled"} /> <PublicPreview />
            </h1>
            <div class="actions">
              <a class="button secondary" href={path(patterns.editTriggerPage)}>
                Edit
              </a>
              <PostButton
                visitor={visitor}
                path={path(trigger.enabled ? patterns.disableTriggerPage : patterns.enableTriggerPage)}
                class="secondary"
              >
                {trigger.enabled ? "Disable" : "Enable"}
              </PostButton>
              <a class="button secondary" href={path(patterns.replaceTriggerPage)}>
                Replace
              </a>
              <a class="button danger" href={path(patterns.deleteTriggerPage)}>
                Delete
              </a>
            </div>
          </div>
          <TriggerFacts read={read} now={now} />
          <div class="heading">
            <h2>Deliveries</h2>
            <p class="actions">
              <a class="button secondary" href={path(patterns.triggerSetupPage)}>
                How to set up
              </a>
              {trigger.enabled && (
                <a class="button secondary" href={path(patterns.sendDeliveryPage)}>
                  Send a test delivery
                </a>
              )}
            </p>
          </div>
          {page.rows.length === 0 ? (
            <p class="empty">
              Nothing has come yet. Give the trigger’s URL to its sender, or send a test delivery.
            </p>
          ) : (
            <Deliveries deliveries={page.rows} builds={page.builds} parameters={parameters} now={now} />
          )}
          <CursorPager label="Pages of deliveries" links={{ Newer: links.newer, Older: links.older }} />
          <Refused counts={read.refused} most={maxRefused} />
          <AuditList entries={audit} now={now} />
        </>
      ),
    };
  });
}

async function readTrigger(services: Services, request: MemberRequest) {
  const { db, clock } = services;
  const at = await loadTrigger(services, request);
  const { trigger } = at;
  const audited = {
    organizationId: request.organization.id,
    subjects: { types: ["trigger"], ids: [trigger.id] },
  };
  return {
    ...at,
    type: findTriggerType(services.config.issueTracker, trigger.type),
    variables: Object.keys(environmentOf(services.cipher, trigger)),
    users: await listUsersById(db, [trigger.createdById]),
    page: await readDeliveries(services, request, trigger.id),
    used: await deliveriesUsed(services, request.organization),
    refused: await listRefusalCounts(db, trigger.id, refusalsKeptSince(clock.now())),
    audit: await listAuditEvents(db, audited, maxAuditEntries),
  };
}

async function readDeliveries({ db }: Services, { event }: MemberRequest, triggerId: string) {
  const asked = readIdPage(event, cursorNames, perPage);
  const page = splitPage(asked, await listDeliveriesPage(db, triggerId, asked), ({ id }) => id);
  const ids = page.rows.map(({ id }) => id);
  return { ...page, builds: await listBuildsOfDeliveries(db, ids) };
}
