import { getRouterParam } from "h3";
import { claimUserCode } from "../../../shared/device/decide.ts";
import { readUserCode, showUserCode } from "../../../shared/device/user-code.ts";
import { pathTo, patterns } from "../../../shared/paths.ts";
import type { Services } from "../../../shared/process/services.ts";
import type { Visitor } from "../../auth/session.ts";
import type { Bodies } from "../../http/body.ts";
import { clientIp } from "../../http/client-address.ts";
import { limitUserCodeFailures } from "../../http/limits.ts";
import { CsrfField, Field, FormError } from "../ui/form.tsx";
import { type PageContent, signedInAction, signedInPage } from "../ui/page.ts";

/** One message for all bad codes, so that a guess learns nothing. */
export const notValid =
  "This code is not valid. Check it on your device, or start there again for a new one.";

/** GET /oauth/device, or /oauth/device/:code, filled in. Reads and changes no request. */
export function enterCodePage(services: Services) {
  return signedInPage(services, ({ event, visitor }) => {
    const code = readUserCode(getRouterParam(event, "code", { decode: true }) ?? "");
    return codePage(visitor, { code: code && showUserCode(code), cameByLink: code !== undefined });
  });
}

/** POST /oauth/device {user_code, came_by_link?}. Claims the request. */
export function enterCode(services: Services, bodies: Bodies) {
  return signedInAction(services, bodies, async ({ event, visitor, user }, form) => {
    const typed = form.get("user_code") ?? "";
    const cameByLink = form.has("came_by_link");
    const path = await limitUserCodeFailures(services, user.id, clientIp(event), async () => {
      const userCode = readUserCode(typed);
      if (!userCode || !(await claimUserCode(services, { userId: user.id, userCode }, cameByLink)))
        return undefined;
      return pathTo(patterns.reviewDevice, { code: showUserCode(userCode) });
    });
    return path ?? codePage(visitor, { code: typed.slice(0, 20), cameByLink, isWrong: true });
  });
}

const problem = { field: "user_code", message: notValid };

interface CodeProps {
  code?: string | undefined;
  cameByLink?: boolean;
  isWrong?: boolean;
}

function codePage(visitor: Visitor, props: CodeProps): PageContent {
  const { cameByLink, isWrong } = props;
  return {
    title: "Connect a device",
    status: isWrong ? 422 : 200,
    content: (
      <div class="narrow">
        <h1>Connect a device</h1>
        <p>
          {cameByLink && !isWrong
            ? "Is this the code that your device shows? Then go on."
            : "Enter the code that your device shows."}
        </p>
        <CodeForm visitor={visitor} {...props} />
        <p class={cameByLink && !isWrong ? "warning" : "quiet"}>
          Never enter a code that somebody sent you: that person could then act in your name.
        </p>
      </div>
    ),
  };
}

/** Also on the home page. */
export function CodeForm({ visitor, code, cameByLink, isWrong }: CodeProps & { visitor: Visitor }) {
  return (
    <form method="post" action={patterns.enterCode}>
      <CsrfField visitor={visitor} />
      {cameByLink && !isWrong && <input type="hidden" name="came_by_link" value="1" />}
      {isWrong && <FormError problems={[problem]}>{notValid}</FormError>}
      <Field
        label="Code"
        name="user_code"
        value={code}
        class="code"
        placeholder="XXXX-XXXX"
        autocomplete="off"
        autocapitalize="characters"
        spellcheck={false}
        maxLength={20}
        required
        problems={isWrong ? [problem] : undefined}
      />
      <p class="actions">
        <button type="submit">Continue</button>
      </p>
    </form>
  );
}
