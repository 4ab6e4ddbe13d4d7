import type { Scope } from "../../shared/accounts/scopes.ts";
import type { AnyMembers } from "../../shared/members/member.ts";
import type { QueuePages } from "../helpers/pages.ts";
import type { Send } from "../ingress/docs/story/chapter.ts";

export type Row = Record<string, unknown> & { id: string };

/** The organization whose rows the tests make. */
interface World {
  acme: { cluster: { id: string } };
}

/** An address with the cluster of acme and its pipeline `web`. */
export function fillIn(path: string, { acme }: World): string {
  return path.replace(":cluster", acme.cluster.id).replace(":slug", "web");
}

/** The names and rights of its operations in the REST API. */
interface Operations {
  /** `Queue`: `listQueues`, `createQueue`, `getQueue`, `updateQueue` and `deleteQueue`. */
  noun: string;
  scopes: [reading: Scope, writing: Scope];
  /** Default: members read, and admins write. */
  readers?: "admin";
  writers?: "member";
  /** Default: delete. */
  ending?: "delete" | "revoke";
  /** The message of a 404. */
  notFound: string;
}

/** Its verbs of the operator's command. */
interface Command {
  noun: string;
  /** The options that name its owner. */
  owner: string[];
  /** The option that names a row, and the member that it takes. */
  key: [option: string, member: string];
  /** Of its list, in what is printed. */
  plural: string;
  /** Standard input of a create. */
  input?: string;
  /** False: no verb changes it by options. */
  hasUpdate?: false;
}

/** The examples of its operations in the OpenAPI document. */
export interface Examples {
  /** A create that succeeds, and one that is refused. */
  creates: [made: [summary: string, body: object], refused: [summary: string, body: object]];
  /** By PUT and by PATCH. */
  changes: [put: [summary: string, body: object], patch: [summary: string, body: object]];
  /** Calls other operations of the row. */
  others?(send: Send, path: Record<string, string>): Promise<unknown>;
}

/** A resource whose members are declared once. */
export interface Resource {
  /** As the wire contract calls it. */
  name: string;
  /** Of its entries in the audit log. */
  subject: string;
  members: AnyMembers;
  /** Of its list, below the organization. Its pages have the same addresses. */
  path: string;
  /** Of a row, in addresses. */
  parameter: string;
  operations: Operations;
  /** The member that names a row in addresses. Default: its id. */
  key?: "slug";
  /** Default: its lists begin with the oldest row. */
  isNewestFirst?: true;
  /** Members that the resource tests itself, by column. */
  own?: string[];
  /** A body with the members that a create requires. */
  body(world: World): Record<string, unknown>;
  /** A body that changes something. */
  change: Record<string, unknown>;
  /** Addresses of forms, relative to the list and to a row. A list with the form of new rows shows the members of all. */
  forms: {
    create: "" | "/new" | "/../new-pipeline";
    change?: "" | "/edit";
    delete: "/delete" | "/revoke";
    /** False: the page of its owner lists its rows. */
    hasList?: false;
    /** False: the list shows all of a row. */
    hasPage?: false;
    /** Fields of a new row. Default: the body. */
    fields?(world: World): Record<string, string>;
    /** All members of the organization may send them. */
    areForAll?: true;
  };
  /**
   * Two values of members that refer to other rows, by column.
   * @param id of the row that gets them; none: a new one
   */
  samples?(pages: QueuePages, id?: string): Promise<Record<string, [unknown, unknown]>>;
  /** Members that answers have elsewhere than under their own names. */
  elsewhere?: Record<string, (row: Row) => unknown>;
  /** Makes a member's text longer, by column, where it is not just any text. */
  lengthen?: Record<string, (length: number) => string>;
  /** Absent: it has none, or other verbs. */
  command?: Command;
  /** Absent: chapters of the story have them. */
  examples?: Examples;
}
