import { html } from './html.ts'

/** The full-page Scalar API reference, started by `docs.js`. */
export function docsPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tally API</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<script src="/assets/scalar.js" defer></script>
<script src="/assets/docs.js" defer></script>
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. The same reference is available as an <a href="/api/v1/openapi.json">OpenAPI document</a>.</noscript>
</body>
</html>
`.text
}
