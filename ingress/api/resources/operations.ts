import { z } from "zod";
import type { Organization } from "../../../shared/accounts/organization-store.ts";
import type { Scope } from "../../../shared/accounts/scopes.ts";
import { listUsersById, type User } from "../../../shared/accounts/user-store.ts";
import type { ListedRows, ListPage } from "../../../shared/db/list-page.ts";
import type { Services } from "../../../shared/services/services.ts";
import type { JsonBody } from "../../http/json-body.ts";
import { readPage } from "../../http/number-pager.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { linkPages, pageQuery } from "../json/list.ts";

type Asked = Pick<Call<unknown>, "caller" | "parameter">;

/** The words of an operation in the document. */
interface Words {
  id: string;
  summary: string;
  /** Of its answer. */
  answer: string;
  /** Reasons of its 422. */
  refusals?: string[];
}

/** A resource with pages of a list by number. */
export interface Resource<Row, Owner, New, Change> {
  tag: string;
  scopes: { reading: Scope; writing: Scope };
  /** Members change it, too. Default: only admins. */
  isForMembers?: boolean;
  /** Only admins read it. */
  isForAdmins?: true;
  paths: { list: string; one: string };
  schema: z.ZodType;
  /** The owner of the list: a cluster, an organization. @throws Refusal 404 */
  ownerOf(call: Asked): Promise<Owner>;
  /** @throws Refusal 404 */
  find(owner: Owner, call: Asked): Promise<Row>;
  /** The users in its answer. */
  userIdsOf(row: Row): string[];
  present(row: Row, organization: Organization, users: ReadonlyMap<string, User>): object;
  list: Words & { read(owner: Owner, page: ListPage): Promise<ListedRows<Row>> };
  create: Words & {
    /** Of its answer, if that has more than others. */
    schema?: z.ZodType;
    body: JsonBody<New>["schema"];
    run(call: Call<New>, owner: Owner): Promise<Row>;
  };
  get: Words;
  update: Words & { body: JsonBody<Change>["schema"]; run(call: Call<Change>, row: Row): Promise<Row> };
  delete: Words & { run(call: Call<unknown>, row: Row): Promise<void> };
}

/** Operations that read and change a resource, and what others of it are made of. */
export function resourceOperations<Row, Owner, New, Change>(
  { db, config }: Services,
  resource: Resource<Row, Owner, New, Change>,
) {
  const { tag, scopes, isForAdmins, paths, schema, list, create, get, update, delete: remove } = resource;
  const reading = { tag, scope: scopes.reading, ...(isForAdmins && { needsAdmin: true }) };
  const writing = { tag, scope: scopes.writing, needsAdmin: !resource.isForMembers };
  const wordsOf = ({ id, summary, refusals }: Words) => ({
    id,
    summary,
    ...(refusals && { refusals: { 422: refusals } }),
  });

  const find = async (call: Asked) => resource.find(await resource.ownerOf(call), call);
  const present = async (organization: Organization, rows: Row[]) => {
    const users = await listUsersById(db, rows.flatMap(resource.userIdsOf));
    return rows.map((row) => resource.present(row, organization, users));
  };
  const presentOne = async ({ caller }: Asked, row: Row) => (await present(caller.organization, [row]))[0];

  const operations: Operation[] = [
    operation({
      ...reading,
      ...wordsOf(list),
      methods: ["GET"],
      path: paths.list,
      query: pageQuery,
      success: { status: 200, schema: z.array(schema), description: list.answer },
      run: async (call) => {
        const owner = await resource.ownerOf(call);
        const page = readPage(call.event);
        const listed = await list.read(owner, page);
        linkPages(call.event, { ...listed, page }, config.baseUrl);
        return present(call.caller.organization, listed.rows);
      },
    }),
    operation<New>({
      ...writing,
      ...wordsOf({ refusals: ["Validation failed: …"], ...create }),
      methods: ["POST"],
      path: paths.list,
      body: { schema: create.body },
      success: { status: 201, schema: create.schema ?? schema, description: create.answer },
      run: async (call) => presentOne(call, await create.run(call, await resource.ownerOf(call))),
    }),
    operation({
      ...reading,
      ...wordsOf(get),
      methods: ["GET"],
      path: paths.one,
      success: { status: 200, schema, description: get.answer },
      run: async (call) => presentOne(call, await find(call)),
    }),
    operation<Change>({
      ...writing,
      ...wordsOf({ refusals: ["Validation failed: …"], ...update }),
      methods: ["PUT", "PATCH"],
      path: paths.one,
      body: { schema: update.body },
      success: { status: 200, schema, description: update.answer },
      run: async (call) => presentOne(call, await update.run(call, await find(call))),
    }),
    operation({
      ...writing,
      ...wordsOf(remove),
      methods: ["DELETE"],
      path: paths.one,
      success: { status: 204, description: remove.answer },
      run: async (call) => remove.run(call, await find(call)),
    }),
  ];
  return { operations, reading, writing, find, presentOne };
}
