import type { User } from "../../../shared/accounts/user-store.ts";
import type { RateLimitState } from "../../../shared/redis/rate-limiter.ts";
import type { Trigger } from "../../../shared/triggers/store.ts";
import { buildDefaults, type TriggerType } from "../../../shared/triggers/types.ts";
import { Time } from "../ui/times.tsx";

interface TriggerDetails {
  trigger: Trigger;
  /** Undefined: of an issue tracker that is configured no longer. */
  type: TriggerType | undefined;
  /** Names of the variables that its builds get. */
  variables: string[];
  users: ReadonlyMap<string, User>;
  /** Of the organization's limit. */
  used: RateLimitState;
}

/** What a trigger is set to do. */
export function TriggerFacts({ read, now }: { read: TriggerDetails; now: Date }) {
  const { trigger, type, variables, users, used } = read;
  return (
    <dl class="facts panel">
      <dt>Type</dt>
      <dd>{type?.title ?? trigger.type}</dd>
      <dt>Builds</dt>
      <dd>
        {trigger.buildBranch ?? buildDefaults.branch} at {trigger.buildCommit ?? buildDefaults.commit}
      </dd>
      <dt>Message</dt>
      <dd>{trigger.buildMessage ?? buildDefaults.message}</dd>
      {variables.length > 0 && (
        <>
          <dt>Variables</dt>
          <dd>{variables.join(", ")}</dd>
        </>
      )}
      {type?.signature && (
        <>
          <dt>Verification</dt>
          <dd>{trigger.secretSealed === null ? "Off" : `On, by ${type.signature.header}`}</dd>
        </>
      )}
      {trigger.filter !== null && (
        <>
          <dt>Filter</dt>
          <dd class="wide">
            <code>{trigger.filter}</code>
          </dd>
        </>
      )}
      <dt>URL</dt>
      <dd>ends in {trigger.tokenHint}; the whole of it is not shown again</dd>
      <dt>Created</dt>
      <dd>
        <Time at={trigger.createdAt} now={now} /> by {users.get(trigger.createdById)?.name ?? "somebody"}
      </dd>
      <dt>Hourly limit</dt>
      <dd>
        {used.limit - used.remaining} of {used.limit} deliveries used, by all triggers of the organization
      </dd>
    </dl>
  );
}
