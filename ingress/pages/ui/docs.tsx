import { patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/runtime/services.ts";
import { page } from "./page.ts";

/** The parts that this page reads. */
export interface ApiDocument {
  info: { title: string; description: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown> };
}

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  parameters: { name: string; in: string; description?: string; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

type Schema = Record<string, unknown>;

/** GET /docs: the document of /openapi.json for people. */
export function docsPage(services: Services, document: ApiDocument) {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as Operation,
    })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? "");
  const content = (
    <>
      <h1>{document.info.title}</h1>
      <p>
        The addresses below start with <code>{document.servers[0]?.url}</code>. Send{" "}
        <code>Authorization: Bearer</code> with an API access token, or with one that a device was given. The
        same as a file for tools: <a href={patterns.openapi}>{patterns.openapi}</a>
      </p>
      <nav aria-label="Resources">
        <ul class="contents">
          {[...byTag.keys()].map((tag) => (
            <li key={tag}>
              <a href={`#${anchor(tag)}`}>{tag}</a>
            </li>
          ))}
        </ul>
      </nav>
      {[...byTag].map(([tag, tagged]) => (
        <section key={tag} aria-labelledby={anchor(tag)}>
          <h2 id={anchor(tag)}>{tag}</h2>
          {tagged.map((entry) => (
            <OperationText key={entry.operation.operationId} {...entry} />
          ))}
        </section>
      ))}
      <h2>Objects</h2>
      {Object.entries(document.components.schemas).map(([name, schema]) => (
        <details key={name} class="operation">
          <summary>{name}</summary>
          {/* A link to an inner element opens it. */}
          <div id={`schema-${name}`}>
            <SchemaText name={name} schema={schema as Schema} />
          </div>
        </details>
      ))}
    </>
  );
  return page(services, () => ({ title: "REST API", content }));
}

function OperationText({ method, path, operation }: { method: string; path: string; operation: Operation }) {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const query = parameters.filter((each) => each.in === "query");
  const body = requestBody?.content["application/json"]?.schema;
  return (
    <details id={operationId} class="operation">
      <summary>
        <code class={`method ${method.toLowerCase()}`}>{method}</code> <code>{path}</code>{" "}
        <span class="quiet">{summary}</span>
      </summary>
      {description && <p>{withCode(description)}</p>}
      {query.length > 0 && (
        <>
          <h3>Query</h3>
          <dl class="facts">
            {query.map(({ name, schema }) => (
              <>
                <dt key={name}>
                  <code>{name}</code>
                </dt>
                <dd key={`${name} text`}>{String(schema.description ?? schema.type ?? "")}</dd>
              </>
            ))}
          </dl>
        </>
      )}
      {body && (
        <>
          <h3>Body{requestBody?.required ? "" : ", optional"}</h3>
          <SchemaText name={`Body of ${summary}`} schema={body} />
        </>
      )}
      <h3>Answers</h3>
      <dl class="facts">
        {Object.entries(responses).map(([status, response]) => (
          <>
            <dt key={status}>
              <code>{status}</code>
            </dt>
            <dd key={`${status} text`}>
              {response.description} <ObjectLink schema={response.content?.["application/json"]?.schema} />
            </dd>
          </>
        ))}
      </dl>
    </details>
  );
}

function ObjectLink({ schema }: { schema: Schema | undefined }) {
  const item = (schema?.items as Schema | undefined) ?? schema;
  const name = String(item?.$ref ?? "")
    .split("/")
    .at(-1);
  return name ? <a href={`#schema-${name}`}>{name}</a> : null;
}

function SchemaText({ name, schema }: { name: string; schema: Schema }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrolling area
    <section aria-label={name} class="payload" tabIndex={0}>
      {JSON.stringify(schema, null, 2)}
    </section>
  );
}

/** Backticks mark code. */
function withCode(text: string) {
  return text.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part));
}

function anchor(tag: string): string {
  return `resource-${tag.toLowerCase().replaceAll(" ", "-")}`;
}
