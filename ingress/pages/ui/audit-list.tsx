import type { listAuditEvents } from "../../../shared/accounts/audit-store.ts";
import type { AuditChange } from "../../../shared/vocabulary.ts";
import type { MemberRequest } from "./member-page.ts";
import { separator } from "./tables.tsx";
import { Time } from "./times.tsx";

type Entry = Awaited<ReturnType<typeof listAuditEvents>>[number];

/** Where the subject of an audit event is. */
export interface Place {
  /** Absent: it has no page, or no longer. */
  path?: string | undefined;
  /** The name of the cluster or pipeline that it belongs to. */
  owner?: string;
}

/** The visitor, who learns the names of own tokens; admins those of all. */
type Viewer = Pick<MemberRequest, "role" | "user">;

interface EntriesProps {
  entries: Entry[];
  viewer: Viewer;
  /** Of subjects, by their ids. */
  places?: Map<string, Place>;
}

/** @param props.path of the whole history */
export function AuditList({ path, ...props }: EntriesProps & { path?: string }) {
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">History</h2>
      <AuditEntries {...props} />
      {path !== undefined && props.entries.length > 0 && (
        <p class="audit-log">
          <a href={path}>The whole history</a>
        </p>
      )}
    </section>
  );
}

/** Rows that unfold to what changed. */
export function AuditEntries({ entries, viewer, places = new Map() }: EntriesProps) {
  if (entries.length === 0) return <p class="quiet">Nothing yet.</p>;
  return (
    <ul class="audit">
      {entries.map((entry) => {
        const { id, subjectId, changes } = entry.event;
        const place = places.get(subjectId);
        return (
          <li key={id}>
            {changes === null ? (
              <div class="line">
                <Line entry={entry} viewer={viewer} place={place} />
              </div>
            ) : (
              <details id={`entry-${id}`}>
                <summary class="line">
                  <Line entry={entry} viewer={viewer} place={place && { ...place, path: undefined }} />
                </summary>
                {/* A summary has no links. */}
                {place?.path && (
                  <p class="changes">
                    <Subject event={entry.event} place={place} />
                  </p>
                )}
                <Changes changes={changes} />
              </details>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Line({ entry, viewer, place }: { entry: Entry; viewer: Viewer; place: Place | undefined }) {
  const { event, actor } = entry;
  const fields = event.changes?.map(({ field }) => field.replaceAll("_", " ")) ?? [];
  return (
    <>
      <span class="deed">
        {actor} {event.action} <Subject event={event} place={place} />
        {fields.length > 0 && <span class="quiet">: {fields.join(", ")}</span>}
      </span>
      <span class="quiet">
        {tokenInWords(event, viewer)}
        <Time at={event.createdAt} />
      </span>
    </>
  );
}

/** `by the token “Release script” · `, or for others `by a token · `. */
function tokenInWords({ token, actorId }: Entry["event"], { role, user }: Viewer): string {
  if (token === null) return "";
  const isNamed = token !== "" && (role === "admin" || actorId === user.id);
  return isNamed ? `by the token “${token}”${separator}` : `by a token${separator}`;
}

function Changes({ changes }: { changes: AuditChange[] }) {
  return (
    <ul class="changes">
      {changes.map(({ field, before, after, difference }) => (
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
          {before === undefined && after === undefined && difference === undefined && " changed"}
          {difference !== undefined && <Difference text={difference} />}
        </li>
      ))}
    </ul>
  );
}

const marks: Record<string, string> = { "+": "new", "-": "gone", "~": "other" };

function Difference({ text }: { text: string }) {
  const lines = text.split("\n");
  return (
    <>
      <pre class="difference">
        {lines.map((line, index) => (
          <span key={index} class={marks[line.slice(0, 1)]}>
            {line}
            {"\n"}
          </span>
        ))}
      </pre>
      {lines.some((line) => line.startsWith("~")) && <p class="quiet">~ has another value</p>}
    </>
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
