// Nothing here or in the renderer may call another host. The page's content policy forbids it, too.
Scalar.createApiReference("#reference", {
  url: document.getElementById("reference").dataset.openapi,
  authentication: { preferredSecurityScheme: "accessToken" },
  documentDownloadType: "json",
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: false,
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
  // The renderer's own grays and colors have too little contrast (WCAG 2.2, 1.4.3).
  customCss: `
    .light-mode {
      --scalar-color-2: #4d4d4d;
      --scalar-color-3: #5c5c5c;
      --scalar-color-green: #0a6b3d;
      --scalar-color-red: #b3132a;
      --scalar-color-yellow: #7a5800;
      --scalar-color-blue: #0b5fa5;
      --scalar-color-orange: #a8430a;
      --scalar-color-purple: #5b2bb0;
      --scalar-sidebar-color-2: #4d4d4d;
      --scalar-sidebar-search-color: #4d4d4d;
    }
    .dark-mode {
      --scalar-color-3: #a3a3a3;
      --scalar-color-red: #ff6b6b;
      --scalar-sidebar-search-color: #a3a3a3;
    }
    #reference {
      overflow-x: clip;
    }
  `,
});
