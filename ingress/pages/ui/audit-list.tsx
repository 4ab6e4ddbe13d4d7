import type { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import type { AuditChange } from "../../../shared/vocabulary.ts";
import { Time } from "./times.tsx";

type Entry = Awaited<ReturnType<typeof listAuditEvents>>[number];

/** Where the subject of an audit event is. */
export interface Place {
  /** Absent: it has no page, or no longer. */
  path?: string;
  /** The name of the cluster or pipeline that it belongs to. */
  owner?: string;
}

/** @param places of subjects, by their ids */
export function AuditList({
  entries,
  places = new Map(),
}: {
  entries: Entry[];
  places?: Map<string, Place>;
}) {
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">History</h2>
      {entries.length === 0 ? (
        <p class="quiet">Nothing yet.</p>
      ) : (
        <ul class="audit">
          {entries.map(({ event, actor }) => (
            <li key={event.id}>
              <span>
                {actor} {event.action} <Subject event={event} place={places.get(event.subjectId)} />
                <Changes changes={event.changes ?? []} />
              </span>
              <span class="quiet">
                <Time at={event.createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Changes({ changes }: { changes: AuditChange[] }) {
  if (changes.length === 0) return null;
  return (
    <ul class="changes">
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          {field.replaceAll("_", " ")}
          {before !== undefined && (
            <>
              {" "}
              from <Value value={before} />
            </>
          )}
          {after !== undefined && (
            <>
              {" "}
              to <Value value={after} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

function Value({ value }: { value: NonNullable<AuditChange["after"]> | null }) {
  if (value === null || value === "") return <span class="quiet">none</span>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  return <q>{value.toLocaleString("en")}</q>;
}

function Subject({ event, place }: { event: Entry["event"]; place: Place | undefined }) {
  const { subjectType, subjectId, subject } = event;
  if (subjectType === "access_token" && subject === subjectId) return <>a token</>;
  const name = <strong>{subject}</strong>;
  return (
    <>
      the {subjectType.replace("_", " ")} {place?.path ? <a href={place.path}>{name}</a> : name}
      {place?.owner !== undefined && (
        <>
          {" "}
          of <strong>{place.owner}</strong>
        </>
      )}
    </>
  );
}
