import { z } from "zod";
import type { Scope } from "../../../shared/accounts/scopes.ts";
import { listUsersById } from "../../../shared/accounts/user-store.ts";
import type { CursorPage } from "../../../shared/db/cursor-page.ts";
import type { ListedRows, ListPage } from "../../../shared/db/list-page.ts";
import type { Services } from "../../../shared/services/services.ts";
import { readCursorPage } from "../../http/cursor-pager.ts";
import type { JsonBody } from "../../http/json-body.ts";
import { readPage } from "../../http/number-pager.ts";
import { type Call, type Operation, operation } from "../../operations/operation.ts";
import { cursorPageSchema, cursorQuery, linkPages, pageQuery, presentCursorPage } from "../json/list.ts";
import type { Answer } from "./answer.ts";

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

/** Reads a list whose pages have numbers, or one whose pages start at a row. */
type Reading<Row, Owner> =
  | { read(owner: Owner, page: ListPage): Promise<ListedRows<Row>> }
  | { readFrom(owner: Owner, page: CursorPage): Promise<Row[]>; isOldestFirst?: true };

/** A resource, with those of the usual operations that it has. */
export interface Resource<Row, Owner, New, Change> {
  tag: string;
  scopes: { reading: Scope; writing?: Scope };
  /** Members change it, too. Default: only admins. */
  isForMembers?: boolean;
  /** Only admins read it. */
  isForAdmins?: true;
  paths: { list: string; one: string };
  json: Answer<Row>;
  /** The owner of the list: a cluster, an organization. @throws Refusal 404 */
  ownerOf(call: Asked): Promise<Owner>;
  /** @throws Refusal 404 */
  find(owner: Owner, call: Asked): Promise<Row>;
  list: Words & Reading<Row, Owner>;
  create?: Words & {
    /** No body is an empty one. */
    isBodyOptional?: true;
    /** Of its answer, if that has more than others. */
    json?: Answer<Row>;
    body: JsonBody<New>["schema"];
    run(call: Call<New>, owner: Owner): Promise<Row>;
  };
  get: Words;
  update?: Words & {
    /** Default: PUT and PATCH, which mean the same. */
    methods?: ["PATCH"];
    body: JsonBody<Change>["schema"];
    run(call: Call<Change>, row: Row): Promise<Row>;
  };
  delete?: Words & { run(call: Call<unknown>, row: Row): Promise<void> };
}

/** Operations that read and change a resource, and what others of it are made of. */
export function resourceOperations<Row extends { id: string }, Owner, New, Change>(
  { db, config }: Services,
  resource: Resource<Row, Owner, New, Change>,
) {
  const { tag, scopes, isForAdmins, paths, json, list, create, get, update, delete: remove } = resource;
  const { schema } = json;
  const reading = { tag, scope: scopes.reading, ...(isForAdmins && { needsAdmin: true }) };
  const writing = { tag, scope: scopes.writing ?? scopes.reading, needsAdmin: !resource.isForMembers };
  const wordsOf = ({ id, summary, refusals }: Words) => ({
    id,
    summary,
    ...(refusals && { refusals: { 422: refusals } }),
  });

  const find = async (call: Asked) => resource.find(await resource.ownerOf(call), call);
  const presenter = async ({ caller: { organization } }: Asked, rows: Row[], shown = json) => {
    const users = await listUsersById(db, rows.flatMap(shown.userIdsOf));
    const context = { config, organization, org: organization.slug, users };
    return (row: Row) => shown.present(row, context);
  };
  const presentOne = async (call: Asked, row: Row, shown = json) =>
    (await presenter(call, [row], shown))(row);
  const hasNumbers = "read" in list;

  const operations: Operation[] = [
    operation({
      ...reading,
      ...wordsOf(list),
      methods: ["GET"],
      path: paths.list,
      query: hasNumbers ? pageQuery : cursorQuery,
      success: {
        status: 200,
        schema: hasNumbers ? z.array(schema) : cursorPageSchema(schema),
        description: list.answer,
      },
      run: async (call) => {
        const owner = await resource.ownerOf(call);
        if (!hasNumbers) {
          const page = readCursorPage(call.event, list.isOldestFirst);
          const rows = await list.readFrom(owner, page);
          const present = await presenter(call, rows);
          return presentCursorPage(call.event, page, rows, { base: config.baseUrl, present });
        }
        const page = readPage(call.event);
        const listed = await list.read(owner, page);
        linkPages(call.event, { ...listed, page }, config.baseUrl);
        return listed.rows.map(await presenter(call, listed.rows));
      },
    }),
  ];
  if (create)
    operations.push(
      operation<New>({
        ...writing,
        ...wordsOf({ refusals: ["Validation failed: …"], ...create }),
        methods: ["POST"],
        path: paths.list,
        body: { schema: create.body, ...(create.isBodyOptional && { isOptional: true }) },
        success: { status: 201, schema: (create.json ?? json).schema, description: create.answer },
        run: async (call) =>
          presentOne(call, await create.run(call, await resource.ownerOf(call)), create.json),
      }),
    );
  operations.push(
    operation({
      ...reading,
      ...wordsOf(get),
      methods: ["GET"],
      path: paths.one,
      success: { status: 200, schema, description: get.answer },
      run: async (call) => presentOne(call, await find(call)),
    }),
  );
  if (update)
    operations.push(
      operation<Change>({
        ...writing,
        ...wordsOf({ refusals: ["Validation failed: …"], ...update }),
        methods: update.methods ?? ["PUT", "PATCH"],
        path: paths.one,
        body: { schema: update.body },
        success: { status: 200, schema, description: update.answer },
        run: async (call) => presentOne(call, await update.run(call, await find(call))),
      }),
    );
  if (remove)
    operations.push(
      operation({
        ...writing,
        ...wordsOf(remove),
        methods: ["DELETE"],
        path: paths.one,
        success: { status: 204, description: remove.answer },
        run: async (call) => remove.run(call, await find(call)),
      }),
    );
  return { operations, reading, writing, find, presentOne };
}
