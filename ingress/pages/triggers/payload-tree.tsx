import { excerpt, sizeInWords } from "../../../shared/refusal.ts";
import { maxExpressionBytes } from "../../../shared/triggers/filter/compile.ts";
import type { PayloadStart } from "../../../shared/triggers/payloads/store.ts";

// The members of a delivery. A click puts one into the expression of the filter.

/** Larger payloads are not listed. */
export const maxListedBytes = 64 * 1024;
const maxMembers = 500;
const maxDepth = 10;
const maxShownLength = 100;

interface Member {
  name: string;
  /** Its comparison, or for a long value its path. */
  expression: string;
  value: string;
}

interface Branch {
  name: string;
  members: Tree;
}

type Tree = (Member | Branch)[];

/** @param hrefOf a page whose form has the comparison too */
export function PayloadTree({
  payload,
  shown,
  hrefOf,
}: {
  payload: PayloadStart | undefined;
  /** Names of the headers whose values are shown, in lower case. */
  shown: Set<string>;
  hrefOf: (comparison: string) => string;
}) {
  const headers = payload ? treeOfHeaders(payload.headers, shown) : [];
  const { tree, isWhole } = payload?.isWhole ? treeOf(payload.text) : { tree: [], isWhole: true };
  if (headers.length + tree.length === 0 && payload?.isWhole !== false) return null;
  return (
    <section aria-labelledby="members">
      <h2 id="members">What the delivery has</h2>
      <p>A click puts a member into the expression.</p>
      <div class="members">
        <List tree={[...headers, ...tree]} hrefOf={hrefOf} />
      </div>
      {!isWhole && <p class="quiet">Only the first {maxMembers} members are listed.</p>}
      {payload?.isWhole === false && (
        <p class="quiet">Payloads above {sizeInWords(maxListedBytes)} are not listed.</p>
      )}
    </section>
  );
}

function List({ tree, hrefOf }: { tree: Tree; hrefOf: (comparison: string) => string }) {
  return (
    <ul>
      {tree.map((each) => (
        <li key={each.name}>
          {"members" in each ? (
            <details>
              <summary>{each.name}</summary>
              <List tree={each.members} hrefOf={hrefOf} />
            </details>
          ) : (
            <a href={hrefOf(each.expression)} data-fills="field-expression" data-joins={each.expression}>
              {each.name} <span class="quiet">{each.value}</span>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function treeOfHeaders(headers: PayloadStart["headers"], shown: Set<string>): Tree {
  return headers.flatMap(([name, value]) => {
    if (value === null || !shown.has(name.toLowerCase())) return [];
    const path = `webhook.headers.HTTP_${name.toUpperCase().replaceAll("-", "_")}`;
    return [leaf(name, path, value)];
  });
}

/** The members of a payload that is JSON. */
function treeOf(text: string): { tree: Tree; isWhole: boolean } {
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    return { tree: [], isWhole: true };
  }
  let count = 0;
  const visit = (value: object, path: string, depth: number): Tree =>
    Object.entries(value).flatMap(([name, child]: [string, unknown]): Tree => {
      if (++count > maxMembers) return [];
      const key = Array.isArray(value) ? `[${name}]` : accessTo(name);
      if (typeof child !== "object" || child === null) return [leaf(name, path + key, child)];
      if (depth >= maxDepth) return [];
      const members = visit(child, path + key, depth + 1);
      return members.length > 0 ? [{ name, members }] : [];
    });
  const tree = typeof payload === "object" && payload !== null ? visit(payload, "webhook.payload", 1) : [];
  return { tree, isWhole: count <= maxMembers };
}

/** CEL keeps `in` and the literals for itself. */
function accessTo(name: string): string {
  const isPlain = /^[A-Za-z_]\w*$/.test(name) && !["in", "true", "false", "null"].includes(name);
  return isPlain ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function leaf(name: string, path: string, value: unknown): Member {
  const json = JSON.stringify(value);
  const isLong = Buffer.byteLength(`${path} == ${json}`) > maxExpressionBytes;
  return {
    name,
    expression: isLong ? path : `${path} == ${json}`,
    value: excerpt(json, maxShownLength),
  };
}

/** Both expressions must hold. The second alone if they are too long together. */
export function joinExpressions(present: string, added: string): string {
  const joined = present.trim() === "" ? added : `${present.trim()} && ${added}`;
  return Buffer.byteLength(joined) > maxExpressionBytes ? added : joined;
}
