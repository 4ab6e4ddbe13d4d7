import type { Resource } from "../../../members/resource.ts";
import { resources } from "../../../members/resources.ts";
import { openSender, type Story } from "./chapter.ts";

/**
 * Tells of the resources of an owner that no chapter tells of.
 * @param owner its address below the organization; "": the organization
 */
export async function resourcesOf(story: Story, owner: string, path: Record<string, string> = {}) {
  for (const each of resources)
    if (each.path.slice(0, each.path.lastIndexOf("/")) === owner) await tellOf(story, each, path);
}

/** Creates, lists, gets, changes and deletes a row. */
async function tellOf(
  story: Story,
  { name, operations: { noun, ending = "delete" }, parameter, examples }: Resource,
  path: Record<string, string>,
) {
  if (!examples) return;
  const send = openSender(story, { ...story.org, ...path });
  const [[summary, json], [refusal, refused]] = examples.creates;
  const [[put, byPut], [patch, byPatch]] = examples.changes;
  const made = await send(`create${noun}`, summary, { json, status: 201 });
  await send(`create${noun}`, refusal, { json: refused, status: 422 });
  const row = { [parameter]: made.body.id as string };
  await send(`list${noun}s`, `A page of ${name}`);
  await send(`get${noun}`, `A ${name.slice(0, -1)}`, { path: row });
  await send(`update${noun}`, put, { path: row, json: byPut });
  await send(`update${noun}ByPatch`, patch, { path: row, json: byPatch });
  await examples.others?.(send, row);
  await send(`${ending}${noun}`, "No answer but the status", { path: row, status: 204 });
}
