/** A table of prices from a file, from standard input or from an address. */
import { CommandError } from '../failures.ts'
import { Progress } from '../terminal/progress.ts'

/** LiteLLM's whole table has 1.4 MB, that of models.dev twice as much; what is larger is something else. */
const LIMIT_BYTES = 16 * 1_048_576

/** A table of a few megabytes takes seconds; after this long nothing more will come. */
const TIMEOUT_MS = 60_000

/** Throws a {@link CommandError} where there is nothing to be had. */
export async function readPriceFile(where: string): Promise<string> {
  if (/^https?:\/\//i.test(where)) return download(where)
  const file = where === '-' ? Bun.stdin : Bun.file(where)
  const name = where === '-' ? 'Standard input' : where
  if (file.size > LIMIT_BYTES && Number.isFinite(file.size)) throw tooLarge(name)
  const bytes = await file.bytes().catch((error: Error) => {
    throw new CommandError(`${name} cannot be read: ${error.message}.`)
  })
  if (bytes.byteLength > LIMIT_BYTES) throw tooLarge(name)
  return textOf(bytes, name)
}

async function download(address: string): Promise<string> {
  const progress = new Progress('Downloading')
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    if (!response.ok) throw new CommandError(`${address} returned ${response.status} ${response.statusText}.`)
    const total = Number(response.headers.get('content-length')) || undefined
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength
      if (size > LIMIT_BYTES) throw tooLarge(address)
      chunks.push(chunk)
      progress.show(size, total)
    }
    return textOf(Buffer.concat(chunks), address)
  } catch (error) {
    if (error instanceof CommandError) throw error
    const { name, message } = error as Error
    const why = name === 'TimeoutError' ? `timed out after ${TIMEOUT_MS / 1_000} s` : message
    throw new CommandError(`${address} cannot be downloaded: ${why}.`)
  } finally {
    progress.end()
  }
}

function tooLarge(name: string): CommandError {
  return new CommandError(`${name} is larger than ${LIMIT_BYTES / 1_048_576} MiB, the limit for price tables.`)
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${name} is not valid UTF-8 text.`)
  }
}
