import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { listAuditEvents } from "../../shared/accounts/audit-store.ts";
import { listMembers, type NamedMember, type Request } from "../../shared/members/member.ts";
import { maxLengthOf } from "../../shared/validation.ts";
import { unique } from "../helpers/api.ts";
import { describeWorld } from "../helpers/databases.ts";
import { openResources } from "./open-resources.ts";
import { fillIn, type Resource, type Row } from "./resource.ts";
import { resources } from "./resources.ts";

const hostile = `"'></textarea><script>alert(1)</script>`;

/** Values of members that are not just any text. */
const forms = [
  ...[true, false, 7, 8],
  ...["- pipeline_slug: one", "- pipeline_slug: other", "prefer-warmest", "prefer-different"],
  ...["2999-01-31T12:00:00.000Z", "2999-02-28T12:00:00.000Z", "0.0.0.0/0", "0.0.0.0/0 ::/0"],
  ...[["192.0.2.0/24"], ["2001:db8::/32"]],
];

const schemaOf = ({ create, change }: NamedMember) => create ?? change ?? assert.fail("nobody gives it");

/** Two values that differ, and that no other row has. */
function samplesOf(member: NamedMember): [unknown, unknown] {
  const texts = [unique("One"), unique("Other")].map((text) => text.replace("-", "_"));
  const [one, other] = [...texts, ...forms].filter((each) => schemaOf(member).safeParse(each).success);
  return [one, other];
}

/** As an entry of the audit log has a value. */
const asAudited = (value: unknown) => (Array.isArray(value) ? value.join(", ") : value);

/** Undefined if its length is limited otherwise. */
function longestOf(member: NamedMember): number | undefined {
  try {
    return maxLengthOf(schemaOf(member));
  } catch {
    return undefined;
  }
}

describeWorld("every member of a resource", openResources, (pages) => {
  for (const resource of resources)
    for (const member of listMembers(resource.members))
      if ((member.create ?? member.change) && !resource.own?.includes(member.column))
        describe(`${member.name} of ${resource.name}`, () => declareTests(resource, member));

  function declareTests(resource: Resource, member: NamedMember): void {
    const { name, column, audited, field } = member;
    const { [name]: valueIn = ({ [name]: value }: Row) => value } = resource.elsewhere ?? {};
    const isShown = member.shown !== null || Object.hasOwn(resource.elsewhere ?? {}, name);
    const path = () => fillIn(resource.path, pages);
    const fields = () => (resource.forms.fields ?? resource.body)(pages);
    const create = (given: object) => pages.send("POST", path(), { ...resource.body(pages), ...given });
    const make = (given: object = {}) => pages.make(resource, given);
    /** A row that has the first of two values. */
    const makeWithValue = async () => {
      const { at, row } = member.create ? { at: "", row: undefined } : await make();
      const [from, to] = (await resource.samples?.(pages, row?.id))?.[column] ?? samplesOf(member);
      if (!row) return { ...(await make({ [name]: from })), from, to };
      return { at, row: (await pages.send("PATCH", at, { [name]: from })).body as Row, from, to };
    };
    const longest = longestOf(member);
    const isRequired = member.create !== undefined && !member.create.safeParse(undefined).success;

    for (const when of ["create", "change"] satisfies Request[]) {
      if (!member[when]) continue;
      it(`${when}: refuses another type, and a text that is too long`, async () => {
        const { at, row } = await make();
        const give = (value: unknown) =>
          when === "create" ? create({ [name]: value }) : pages.send("PATCH", at, { [name]: value });
        for (const value of [7, true, {}, []].filter((each) => !member[when]?.safeParse(each).success)) {
          const { status, body } = await give(value);
          assert.equal(status, 422, JSON.stringify(value));
          assert.match(body.message, /^Validation failed: [A-Z][^,]* must be /);
        }
        if (longest !== undefined) {
          const { body } = await give("x".repeat(longest + 1));
          assert.match(body.message, /^Validation failed: [^,]* is too long/);
        }
        assert.deepEqual((await pages.send("GET", at)).body, row);
        const { [column]: lengthen = (length: number) => unique("x").replace("-", "x").padEnd(length, "x") } =
          resource.lengthen ?? {};
        if (longest !== undefined && field?.kind !== "choice")
          assert.ok((await give(lengthen(longest))).status < 300);
      });
    }

    if (isRequired)
      it("create: is required", async () => {
        for (const none of [undefined, null, ""]) {
          const { status, body } = await create({ [name]: none });
          assert.equal(status, 422);
          assert.match(body.message, /^Validation failed: [^,]* can't be blank$/);
        }
      });
    else if (member.create)
      it("create: has a default, and null and blank text mean it, or are refused", async () => {
        const { [name]: absent } = (await make()).row;
        for (const none of [null, "", " \n"]) {
          const { status, body } = await create({ [name]: none });
          if (status === 201) assert.deepEqual(body[name], absent);
          else assert.equal(status, 422);
        }
      });
    else
      it("create: is ignored", async () => {
        assert.equal((await make({ [name]: samplesOf(member)[0] })).row[name], null);
      });

    if (member.change)
      it("change: stays without it, and null and blank text are none, refused or ignored", async () => {
        for (const none of [null, "", " \n"]) {
          const { at, row } = await makeWithValue();
          assert.deepEqual(valueIn((await pages.send("PATCH", at, { unknown: 7 })).body), valueIn(row));
          const cleared = await pages.send("PATCH", at, { [name]: none });
          const value = valueIn((await pages.send("GET", at)).body);
          const isNone = value === null || value === "" || member.show !== undefined || !isShown;
          if (cleared.status === 200) assert.ok(isNone || isDeepStrictEqual(value, valueIn(row)), `${value}`);
          else assert.deepEqual([cleared.status, value], [422, valueIn(row)]);
        }
      });
    else
      it("change: is ignored, as an unknown one is", async () => {
        const { at, row } = await makeWithValue();
        const changed = (await pages.send("PATCH", at, { unknown: 7, [name]: samplesOf(member)[1] })).body;
        for (const key of Object.keys(row).filter((each) => !each.startsWith("updated_")))
          assert.deepEqual(changed[key], row[key], key);
      });

    it(isShown ? "is in every answer" : "is in no answer", async () => {
      const { at, row, from } = await makeWithValue();
      const listed = (await pages.newest(resource)).rows.find(({ id }) => id === row.id) ?? assert.fail();
      for (const answer of [row, (await pages.send("GET", at)).body, listed])
        if (isShown) assert.deepEqual(valueIn(answer), from);
        else {
          assert.equal(valueIn(answer), undefined);
          // A list that may only be empty has no text of its own.
          assert.ok(typeof from !== "string" || !JSON.stringify(answer).includes(from));
        }
    });

    if (member.change && audited)
      it("change: is audited", async () => {
        const { at, row, from, to } = await makeWithValue();
        await pages.send("PATCH", at, { [name]: to });
        const subjects = { types: [resource.subject], ids: [row.id] } as never;
        const filter = { organizationId: pages.acme.id, subjects };
        const [entry] = await listAuditEvents(pages.services.db, filter, 1);
        const values = [{ field: name, before: asAudited(from), after: asAudited(to) }];
        assert.deepEqual(entry?.event.changes, { values, name: [{ field: name }] }[audited]);
      });

    if (field && field.kind !== "choice" && longest !== undefined)
      it("create: a form marks its field, and keeps what was typed", async () => {
        const form = { ...fields(), [field.name ?? name]: "x".repeat(longest + 1) };
        const at = `/organizations/acme${path()}${resource.forms.create}`;
        const { status, text } = await pages.asAda.post(at, form as Record<string, string>);
        assert.equal(status, 422);
        assert.match(text, new RegExp(`id="field-${field.name ?? name}-problem">[^<]* is too long`));
        assert.equal(text.includes("x".repeat(longest + 1)), isShown);
      });

    if (field && !["choice", "check"].includes(field.kind ?? "line"))
      it(isShown ? "is escaped on every page that shows it" : "is on no page", async () => {
        const at = `/organizations/acme${path()}`;
        const form = { ...fields(), [field.name ?? name]: hostile } as Record<string, string>;
        const answer = await pages.asAda.post(at + resource.forms.create, form);
        const { page, rows } = await pages.newest(resource);
        const row = `/organizations/acme${pages.addressOf(resource, rows.at(resource.isNewestFirst ? 0 : -1) as Row)}`;
        const { create: ofNew, change: ofRow, delete: ofDeleting, hasPage = true } = resource.forms;
        const shownOn = [
          ...(ofNew === "" && ofRow !== undefined ? [`${at}?page=${page}`] : []),
          ...(ofRow === undefined ? [row + ofDeleting] : [...(hasPage ? [row] : []), row + ofRow]),
        ];
        const texts = [];
        if (answer.status === 422) texts.push(answer.text);
        else for (const page of shownOn) texts.push((await pages.asAda.get(page)).text);
        assert.ok(texts.length > 0);
        for (const text of texts) {
          assert.doesNotMatch(text, /<script>alert/);
          assert.equal(text.includes("&lt;script>alert(1)"), isShown);
        }
      });
  }
});
