/** The licences of what others made of the executable, which it carries. */
import { join } from 'node:path'

/** Where `scripts/notices.ts` puts them, compressed, and where a command line from source finds them. */
export const NOTICES = join(import.meta.dir, '../../dist/third-party.notices')

/** Undefined from source where nothing was built yet. */
export async function findNotices(): Promise<string | undefined> {
  const compressed = await findCompressed()
  return compressed && new TextDecoder().decode(await Bun.zstdDecompress(await compressed.arrayBuffer()))
}

async function findCompressed(): Promise<Blob | undefined> {
  if (Bun.isStandaloneExecutable) return Bun.embeddedFiles.find((file) => (file as File).name.endsWith('.notices'))
  const file = Bun.file(NOTICES)
  return (await file.exists()) ? file : undefined
}
