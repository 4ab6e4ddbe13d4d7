import { type ComponentChildren, Fragment } from "preact";
import type { BuildInDeliveries, BuildOfDelivery } from "../../../shared/builds/rows/build-store.ts";
import { type ParametersOf, pathTo, patterns } from "../../../shared/paths.ts";
import { sizeInWords } from "../../../shared/refusal.ts";
import type { Delivery } from "../../../shared/triggers/deliveries/store.ts";
import { reasonWords } from "../../../shared/triggers/reasons.ts";
import { firstLine } from "../builds/list.tsx";
import { State } from "../states/state.tsx";
import { Table } from "../ui/tables.tsx";
import { Time } from "../ui/times.tsx";
import { type LeftOut, leftOutInBrief } from "./left-out.tsx";

export const statusWords = { build_created: "built", not_run: "not run", failed: "failed" } as const;

/** @param isBuilt it has a build: one that the delivery itself did not make was asked for by a person */
export function DeliveryState({
  delivery: { status },
  isBuilt = false,
}: {
  delivery: Delivery;
  isBuilt?: boolean;
}) {
  const word = status === null ? "in process" : statusWords[status];
  if (isBuilt && status !== null && status !== "build_created")
    return <State state="built by hand" kind="build_created" />;
  return <State state={word} kind={status ?? "waiting"} />;
}

export function reasonInWords({ reason }: Delivery): string | undefined {
  return reason === null ? undefined : reasonWords[reason];
}

type TriggerPlace = ParametersOf<typeof patterns.triggerPage>;

export function Deliveries({
  deliveries,
  builds,
  placeOf,
  nameTrigger,
  leftOut,
}: {
  deliveries: Delivery[];
  builds: BuildInDeliveries[];
  /** Undefined for a deleted trigger, which has no page. */
  placeOf: (delivery: Delivery) => TriggerPlace | undefined;
  nameTrigger?: (delivery: Delivery) => ComponentChildren;
  /** By the ids of deliveries. Absent for those of which nothing is known. */
  leftOut?: ReadonlyMap<string, LeftOut>;
}) {
  const buildsByDelivery = Map.groupBy(builds, ({ deliveryId }) => deliveryId);
  return (
    <Table
      caption="Deliveries"
      columns={["Received", ...(nameTrigger ? ["Trigger"] : []), "Status", "Result", "Size"]}
      isList
    >
      {deliveries.map((delivery) => {
        const place = placeOf(delivery);
        return (
          <tr key={delivery.id} class="delivery">
            <th scope="row" class="described">
              {place ? (
                <a href={pathTo(patterns.deliveryPage, { ...place, delivery: delivery.id })}>
                  <Time at={delivery.receivedAt} />
                </a>
              ) : (
                <Time at={delivery.receivedAt} />
              )}
              {delivery.event && <span>{delivery.event}</span>}
            </th>
            {nameTrigger && <td>{nameTrigger(delivery)}</td>}
            <td>
              <DeliveryState delivery={delivery} isBuilt={buildsByDelivery.has(delivery.id)} />
            </td>
            <td>
              <Result
                delivery={delivery}
                leftOut={leftOut?.get(delivery.id)}
                builds={buildsByDelivery.get(delivery.id) ?? []}
                place={place}
              />
            </td>
            <td class="number">{sizeInWords(delivery.size)}</td>
          </tr>
        );
      })}
    </Table>
  );
}

/**
 * `#4 #7 main Fix the build`, with the branch and message of the last build; else the reason for no build. Both, if a
 * person had it built.
 */
function Result({
  delivery,
  leftOut,
  builds,
  place,
}: {
  delivery: Delivery;
  leftOut: LeftOut | undefined;
  builds: BuildInDeliveries[];
  place: TriggerPlace | undefined;
}) {
  const last = builds.at(-1);
  const reason = leftOutInBrief(leftOut, reasonInWords(delivery));
  if (!last) {
    const about = firstLine(leftOut?.subject?.message ?? delivery.externalId ?? "");
    return (
      <div class="result">
        {reason && (
          <span class="reason" title={reason}>
            {reason}
          </span>
        )}
        {about && (
          <span class="message quiet only-on-desk" title={about}>
            {about}
          </span>
        )}
      </div>
    );
  }
  const message = firstLine(last.message);
  return (
    <div class="result">
      {place && (
        <span>
          <BuildLinks builds={builds} parameters={place} />
        </span>
      )}
      <span class="branch" title={last.branch}>
        {last.branch}
      </span>
      {reason && (
        <span class="reason" title={reason}>
          not at once: {reason}
        </span>
      )}
      <span class={reason ? "message quiet only-on-desk" : "message quiet"} title={message}>
        {message}
      </span>
    </div>
  );
}

/** The last builds of a delivery that pages show. */
export const maxBuildsOfDelivery = 10;

/**
 * `#4 #7`
 * @param stateOf default: no state stands beside a build
 */
export function BuildLinks<Made extends BuildOfDelivery>({
  builds,
  parameters,
  stateOf,
}: {
  builds: Made[];
  parameters: ParametersOf<typeof patterns.pipelinePage>;
  stateOf?: (build: Made) => string;
}) {
  return (
    <>
      {builds.length > maxBuildsOfDelivery && <span class="quiet">earlier ones, </span>}
      {builds.slice(-maxBuildsOfDelivery).map((build, index) => (
        <Fragment key={build.id}>
          {index > 0 && " "}
          <a class="build" href={pathTo(patterns.buildPage, { ...parameters, number: String(build.number) })}>
            #{build.number}
          </a>
          {stateOf && (
            <>
              {" "}
              <State state={stateOf(build)} />
            </>
          )}
        </Fragment>
      ))}
    </>
  );
}
