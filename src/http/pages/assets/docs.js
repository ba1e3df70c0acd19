// Starts the Scalar API reference without any requests to other hosts: no fonts, telemetry, proxy or assistant.

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
