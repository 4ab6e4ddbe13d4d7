import { z } from "zod";
import {
  buildText,
  environment,
  filterExpression,
  type NewTrigger,
  newTrigger,
  signingSecret,
  type TriggerChange,
  triggerLabel,
} from "../../../shared/triggers/input.ts";
import { text } from "../../../shared/validation.ts";

/** An object that has no other members than these. */
function only<Shape extends z.core.$ZodLooseShape>(name: string, shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${name} has no ${(issue.keys as string[]).map((key) => key.slice(0, 100)).join(", ")}`
        : `${name} must be an object`,
  });
}

const enabled = z.boolean({ error: "Enabled must be true or false" });

const build = only("Build", {
  message: buildText.message.optional().meta({ description: "Null: Triggered build" }),
  commit: buildText.commit.optional().meta({ description: "Null: HEAD" }),
  branch: buildText.branch.optional().meta({ description: "Null: main" }),
  environment: environment
    .optional()
    .meta({ description: "Variables of the build; replaces the whole set, and is never shown again" }),
});

const filter = only("Filter", { expression: filterExpression.meta({ description: "CEL" }) }).nullish();

const strategy = z.literal("hmac", { error: "Verification strategy must be hmac" });

/** Only of github and the issue tracker. */
const newVerification = only("Verification", { strategy, secret: signingSecret }).nullish();
const changedVerification = only("Verification", {
  strategy,
  secret: signingSecret.optional().meta({ description: "Absent: the present one stays" }),
}).nullish();

export const createTriggerBody = only("Trigger", {
  type: newTrigger.shape.type.meta({ description: "webhook, github or the issue tracker" }),
  label: triggerLabel,
  enabled: enabled.default(true),
  build: build.optional(),
  filter,
  verification: newVerification,
}).transform(
  ({ build = {}, filter, verification, ...rest }): NewTrigger => ({
    ...rest,
    message: build.message ?? null,
    commit: build.commit ?? null,
    branch: build.branch ?? null,
    environment: build.environment ?? {},
    filter: filter?.expression ?? null,
    secret: verification?.secret ?? null,
  }),
);

export const updateTriggerBody = only("Trigger", {
  type: z
    .string({ error: "Type must be a string" })
    .optional()
    .meta({ description: "What it is: it cannot be changed" }),
  label: triggerLabel.optional(),
  enabled: enabled.optional(),
  build: build.optional(),
  filter: filter.meta({ description: "Null: every delivery builds" }),
  verification: changedVerification.meta({ description: "Null: deliveries are no longer verified" }),
}).transform(
  ({ build = {}, filter, verification, ...rest }): TriggerChange =>
    withoutAbsent({ ...rest, ...build, filter: filter === null ? null : filter?.expression, verification }),
);

function withoutAbsent(change: { [K in keyof TriggerChange]?: TriggerChange[K] | undefined }): TriggerChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

export const filterTestBody = only("Filter test", {
  expression: filterExpression,
  delivery_id: text("Delivery id", 100).meta({ description: "A delivery whose payload is still kept" }),
});
