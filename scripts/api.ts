/** Builds the API's OpenAPI document as the executable contains it, `dist/api.pack`. */
import { join } from 'node:path'
import { compressed, savePack } from './packing.ts'

const ROOT = join(import.meta.dir, '..')

/** From the routes of the application itself, in a process of its own: it is made as a server from source makes it. */
export async function buildApi(): Promise<void> {
  const startedAt = performance.now()
  const text = await Bun.$`${process.execPath} ${join(ROOT, 'src/main.ts')} openapi`.quiet().text()
  const bytes = new TextEncoder().encode(JSON.stringify(JSON.parse(text)))
  const stamp = new Bun.CryptoHasher('sha256').update(bytes).digest('hex')
  await savePack(
    'api',
    { stamp, files: new Map([['openapi.json', await compressed('openapi.json', bytes)]]) },
    startedAt,
  )
}

if (import.meta.main) await buildApi()
