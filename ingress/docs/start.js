// Nothing here or in the renderer may call another host. The page's content policy forbids it, too.
Scalar.createApiReference("#reference", {
  url: "/openapi.json",
  authentication: { preferredSecurityScheme: "accessToken" },
  documentDownloadType: "json",
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
});
