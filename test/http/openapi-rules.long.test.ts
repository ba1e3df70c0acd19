import { expect, test } from 'bun:test'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { startApp } from '../support/app.ts'

test("the OpenAPI document passes Redocly's strict rules, examples against their schemas included", async () => {
  const app = await startApp()
  const { document } = app
  await app.close()
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The schemas themselves say which fields an object has; the rule would also require that of their conditions.
      'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
      'no-invalid-schema-examples': { severity: 'error', allowAdditionalProperties: true },
      // Where a call cannot be wrong (the document itself, the health of the process) there is no 4XX to describe.
      'operation-4xx-response': 'off',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})
