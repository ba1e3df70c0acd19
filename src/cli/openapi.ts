import type { Command } from 'commander'
import { examples } from './flags/options.ts'
import { print } from './terminal/print.ts'

export function addOpenapiCommand(program: Command): void {
  program
    .command('openapi')
    .description('Print the OpenAPI 3.1 document of the HTTP API, as served at /api/v1/openapi.json')
    .addHelpText('after', examples('tally openapi > openapi.json', "tally openapi | jq '.paths | keys'"))
    .action(async () => print(await openApiDocument()))
}

export async function openApiDocument(): Promise<string> {
  const { findPack, packedText } = await import('../embedded/pack.ts')
  const text = Bun.isStandaloneExecutable
    ? await packedText((await findPack('api'))!, 'openapi.json')
    : await generated()
  return JSON.stringify(JSON.parse(text!), null, 2)
}

/** From source, by the application itself: it is made on an empty database, asked once, and never listens. */
async function generated(): Promise<string> {
  const [
    { mkdtemp, rm },
    { tmpdir },
    { join },
    { pino },
    { openDatabase },
    { createServices },
    { createApp },
    { systemClock },
  ] = await Promise.all([
    import('node:fs/promises'),
    import('node:os'),
    import('node:path'),
    import('pino'),
    import('../database/open.ts'),
    import('../services.ts'),
    import('../app.ts'),
    import('../lib/clock.ts'),
  ])
  const dataDir = await mkdtemp(join(tmpdir(), 'tally-openapi-'))
  const db = await openDatabase({ dataDir, clock: systemClock })
  try {
    const app = createApp({ services: createServices({ db, clock: systemClock }), logger: pino({ level: 'silent' }) })
    const answer = await app.handle(new Request('http://localhost/api/v1/openapi.json'))
    return await answer.text()
  } finally {
    await db.close()
    await rm(dataDir, { recursive: true, force: true })
  }
}
