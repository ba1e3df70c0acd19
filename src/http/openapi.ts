/** Serves the OpenAPI document, which the executable contains. */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { VERSION } from '../embedded/version.ts'
import { access } from './access.ts'
import { FixedContent, REVALIDATED } from './content.ts'
import { documented } from './documentation.ts'
import type { DescribedRoute } from './openapi-document.ts'
import { PackedFiles } from './packed-files.ts'

export const openApi = ({ routes }: { routes: () => readonly DescribedRoute[] }) => {
  const packed = new PackedFiles('api')
  let made: Promise<FixedContent> | undefined

  /** From source, where routes change from one start to the next. */
  async function make(): Promise<FixedContent> {
    const { openApiDocument } = await import('./openapi-document.ts')
    return new FixedContent(JSON.stringify(await openApiDocument(routes())), 'application/json')
  }

  return new Elysia({ name: 'openapi' }).use(access()).get(
    '',
    async ({ request }) => {
      if (Bun.isStandaloneExecutable) return (await packed.respond('openapi.json', request, { headers: REVALIDATED }))!
      made ??= make()
      return (await made).respond(request)
    },
    {
      allow: 'anyone',
      detail: documented({
        id: 'getOpenApi',
        tag: 'Service',
        summary: 'Get the OpenAPI document',
        responses: {
          200: {
            description: 'The OpenAPI 3.1 description of the whole API.',
            schema: Type.Object({ openapi: Type.Literal('3.1.0') }, { additionalProperties: true }),
            headers: ['ETag'],
            example: { openapi: '3.1.0', info: { title: 'Tally', version: VERSION }, paths: {} },
          },
          304: { description: 'The document matches the ETag in If-None-Match.', headers: ['ETag'] },
        },
      }),
    },
  )
}
