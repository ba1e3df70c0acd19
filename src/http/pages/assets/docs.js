// Starts Scalar's API reference with nothing that would leave this host: no fonts, no telemetry, no proxy, no assistant.

globalThis.Scalar.createApiReference('#reference', {
  url: '/api/v1/openapi.json',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  documentDownloadType: 'direct',
  persistAuth: false,
  orderSchemaPropertiesBy: 'preserve',
  theme: 'default',
})
