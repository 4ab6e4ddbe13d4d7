import { patterns } from "../../shared/paths.ts";
import type { Config } from "../../shared/settings/config.ts";
import type { Operation } from "../operations/operation.ts";
import { answerHeaders } from "./answers.ts";
import type { Declaration } from "./declaration.ts";
import { declareDeliver } from "./deliveries.ts";
import { describeOperation } from "./describe-operation.ts";
import { type Examples, readExamples } from "./examples.ts";
import { identityDeclarations } from "./identity.ts";
import { installationDeclarations } from "./installation.ts";
import { oauthDeclarations } from "./oauth.ts";
import { declareOperation, root } from "./operations.ts";
import { Schemas } from "./schemas.ts";

/** By tag, in the order of the document. */
const tagDescriptions: Record<string, string> = {
  Root: "A greeting, without a token.",
  User: "The user of an access token.",
  "Access token": "The access token of the request.",
  Organizations: "The organization of an access token.",
  "Repository connections": "Source hosts of an organization, and the tokens by which they are called.",
  "Notification services": "Receivers outside that are told of builds, jobs and agents.",
  Clusters: "Groups of queues.",
  Queues: "Queues of jobs, with dispatch pause.",
  Pipelines: "The steps of builds.",
  Schedules: "Times at which pipelines build.",
  Builds: "Builds and their jobs.",
  Agents: "Programs that take jobs and run them.",
  "Pipeline triggers (public preview)":
    "Triggers turn webhooks into builds. Their deliveries can be read and built again.",
  "Posting a delivery": "The endpoint that senders of webhooks call.",
  OAuth:
    "The device flow, tokens and metadata. Bodies are forms, and errors are `{error, error_description}`.",
  "Agent API": "The calls of agents, and of programs inside their jobs.",
  Installation: "Health, readiness and this document, without a token.",
};

const introduction = ({ appUrl }: Config) => `Self-hosted front office for continuous integration.

**Authentication.** REST requests carry \`Authorization: Bearer <access token>\`. Make a token on the page [API access tokens](${appUrl}${patterns.newAccessToken}), or have one issued to a device.

**Errors** are JSON objects with a \`message\`, except those of OAuth. A 422 of a create or update lists every reason.

**Lists** have pages: follow the \`next\` address of the \`Link\` header, or of \`links\` in the body.

**Limits.** A 429 says in \`Retry-After\` how many seconds to wait. A 503 does, too.`;

const securitySchemes = {
  accessToken: {
    type: "http",
    scheme: "bearer",
    description: "An API access token, or one issued to a device",
  },
  agentToken: {
    type: "http",
    scheme: "bearer",
    description: "A token of a cluster that registers agents. `Token` is accepted in place of `Bearer`",
  },
  sessionToken: {
    type: "http",
    scheme: "bearer",
    description: "The token that registering returned. `Token` is accepted in place of `Bearer`",
  },
  jobToken: {
    type: "http",
    scheme: "bearer",
    description: "The token of a job's attempt. `Token` is accepted in place of `Bearer`",
  },
  client: { type: "http", scheme: "basic", description: "Id and secret of an OAuth application" },
};

/** All operations that programs call. */
function declareAll(config: Config, operations: Operation[]): Declaration[] {
  return [
    root,
    ...operations.map(declareOperation),
    declareDeliver(config),
    ...oauthDeclarations,
    ...identityDeclarations,
    ...installationDeclarations,
  ];
}

/** Makes the OpenAPI 3.1 document from the declarations that check requests. */
export function describeApi(config: Config, operations: Operation[], examples: Examples = readExamples()) {
  const declarations = declareAll(config, operations);
  const schemas = new Schemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const declared of declarations) {
    const path = declared.path.replace(/:([a-z]+)/g, "{$1}");
    for (const [index, method] of declared.methods.entries()) {
      const id =
        index === 0 ? declared.id : `${declared.id}By${method.charAt(0)}${method.slice(1).toLowerCase()}`;
      paths[path] = {
        ...paths[path],
        [method.toLowerCase()]: describeOperation(
          config,
          { ...declared, id },
          { schemas, examples: examples[id] ?? [] },
        ),
      };
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signalbox API",
      version: "2",
      description: introduction(config),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: config.baseUrl }],
    security: [{ accessToken: [] }],
    tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: schemas.named, headers: answerHeaders, securitySchemes },
  };
}
