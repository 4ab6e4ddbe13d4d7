import { chooseShortcuts } from "../../../shared/accounts/users.ts";
import { patterns } from "../../../shared/paths.ts";
import { Check, PostForm } from "../ui/form.tsx";
import { accountAction, accountPage } from "../ui/member-page.ts";
import { narrowPage } from "../ui/narrow-page.tsx";
import { withNotice } from "../ui/notices.ts";

const everywhere: [keys: string[], effect: string][] = [
  [["/"], "Search; in a log, search the log"],
  [["g", "p"], "Pipelines"],
  [["g", "b"], "Builds"],
  [["g", "d"], "Deliveries"],
  [["g", "a"], "Agents"],
  [["j"], "Next row of a list; next job beside a log"],
  [["k"], "Row before; job before"],
  [["n"], "In a log, the next line that was found"],
  [["N"], "In a log, the line before that was found"],
  [["?"], "These keys"],
];

/** GET /user/keyboard */
export const keyboardPage = accountPage((_, { user }) =>
  narrowPage({
    title: "Keyboard shortcuts",
    content: (
      <>
        <div id="keys">
          <dl class="facts">
            <dt>
              <kbd>Ctrl</kbd> <kbd>K</kbd>
            </dt>
            <dd>Search, on a Mac with ⌘ too</dd>
            {everywhere.map(([keys, effect]) => (
              <>
                <dt>
                  {keys.map((key, index) => (
                    <>
                      {index > 0 && " "}
                      <kbd>{key}</kbd>
                    </>
                  ))}
                </dt>
                <dd>{effect}</dd>
              </>
            ))}
          </dl>
        </div>
        <PostForm path={patterns.keyboard} button="Save">
          <Check
            label="Keyboard shortcuts of single letters"
            name="shortcuts"
            checked={user.hasShortcuts}
            hint="Turn them off if you dictate, or press keys by accident. Ctrl K stays."
          />
        </PostForm>
      </>
    ),
  }),
);

/** POST … {shortcuts} */
export const saveKeyboard = accountAction(async (services, { user }, form) => {
  await chooseShortcuts(services, user.id, form.has("shortcuts"));
  return withNotice(patterns.keyboard, "shortcuts_saved");
});
