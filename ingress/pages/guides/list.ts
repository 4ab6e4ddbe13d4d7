/** The pages of the tree that are guides, by their address below /docs, in the order of the contents. */
export const guides = {
  steps: { title: "Writing steps", file: "shared/pipelines/STEPS.md" },
  hosts: { title: "Source hosts", file: "ingress/api/provider/README.md" },
  webhooks: { title: "Webhooks and filters", file: "ingress/webhooks/README.md" },
  notifications: { title: "Notification services", file: "ingress/api/notifications/README.md" },
  schedules: { title: "Schedules", file: "shared/schedules/README.md" },
  moving: { title: "Moving here", file: "shared/pipelines/MOVING.md" },
  agents: { title: "Agents", file: "scripts/agent/README.md" },
  artifacts: { title: "Artifacts", file: "shared/artifacts/README.md" },
  annotations: { title: "Annotations", file: "shared/annotations/README.md" },
  secrets: { title: "Secrets", file: "shared/secrets/README.md" },
  identity: { title: "Identity tokens", file: "shared/identity/README.md" },
  operating: { title: "Operating", file: "scripts/deploy/PRODUCTION.md" },
  settings: { title: "Settings", file: "shared/SETTINGS.md" },
  metrics: { title: "Metrics", file: "shared/METRICS.md" },
  rest: { title: "REST in words", file: "ingress/api/README.md" },
} as const satisfies Record<string, { title: string; file: string }>;

export type GuideName = keyof typeof guides;

export function isGuide(name: string): name is GuideName {
  return Object.hasOwn(guides, name);
}
