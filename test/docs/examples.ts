/**
 * Runs the examples of a page, in order, in one shell and folder. `tally` is on the PATH, a server is at the address of the
 * examples, and `TALLY_URL`, `TALLY_TOKEN` (a service token) and `TALLY_API_TOKEN` (an admin's API token) are set, except on a
 * page that begins with a new server. What an example needs besides, such as root or an agent, is not there: `sh elsewhere`
 * is not run, but its commands have to exist. A `json` block after one that runs is the shape of what it prints, and a `text
 * printed` block exactly that; `json POST /entries` is sent.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DATABASE_FILE } from '../../src/database/open.ts'
import { SCOPE_NAMES } from '../../src/shared/token-scopes.ts'
import { precompiledExecutable, SHORT_RUN } from '../support/binary.ts'
import { CommandLine, type RunningServer } from '../support/command-line.ts'
import { copyDemo } from '../support/demo.ts'
import type { Block, ManualPage } from './manual-pages.ts'

/** Where Tally is in the examples. */
const ADDRESSES = ['http://127.0.0.1:4747', 'http://localhost:4747', 'https://tally.example.com']

/** Replaces the address of the examples by that of the server. */
export const locatedAt = (text: string, url: string | undefined): string =>
  ADDRESSES.reduce((located, address) => located.replaceAll(address, url ?? address), text)

/** Separates what the blocks of a page print. */
const MARK = '\u0001'

export const isRun = ({ language, note }: Block) => language === 'sh' && note !== 'elsewhere'

interface Prepared {
  /** The content of its file. */
  database: Uint8Array
  variables: Record<string, string>
}

/** The databases that the pages begin with, made for the first that needs each. */
const prepared: Partial<Record<ManualPage['server'], Promise<Prepared>>> = {}

async function prepare(kind: ManualPage['server']): Promise<Prepared> {
  const tally = await CommandLine.make({ engine: 'sqlite' })
  try {
    if (kind === 'demo') await copyDemo(tally.dataDir)
    else {
      for (const name of ['You', 'Ada']) {
        await tally.done(['users', 'add', '--email', `${name}@example.com`, '--name', name, '--role', 'admin'])
      }
    }
    const user = kind === 'demo' ? 'ines.marques@meridian.example' : 'ada@example.com'
    await tally.done(['settings', 'set', '--api-tokens', 'yes'])
    const create = async (of: string, scopes: string[]) => {
      const args = ['tokens', 'create', '--kind', of, '--user', user, '--name', `manual ${of}`, ...scopes]
      return (await tally.json(args)).token as string
    }
    const variables = {
      TALLY_TOKEN: await create('svc', []),
      TALLY_API_TOKEN: await create('api', ['--scope', SCOPE_NAMES.join(',')]),
    }
    return { database: await readFile(join(tally.dataDir, DATABASE_FILE)), variables }
  } finally {
    await tally.remove()
  }
}

export class Reader {
  private constructor(
    readonly tally: CommandLine,
    readonly server: RunningServer | undefined,
    readonly variables: Record<string, string>,
  ) {}

  static async of(page: ManualPage): Promise<Reader> {
    const isFirst = page.server === 'none' || page.server === 'new'
    const tally = await CommandLine.make({ engine: 'sqlite', isFirst })
    const program = `#!/bin/sh\nexec ${await precompiledExecutable()} "$@"\n`
    // Where it is in a checkout, and where an installation has it.
    for (const folder of ['scripts', 'bin']) {
      await mkdir(join(tally.folder, folder))
      await writeFile(join(tally.folder, folder, 'tally'), program, { mode: 0o755 })
    }
    const PATH = `${join(tally.folder, 'bin')}:${process.env.PATH}`
    if (page.server === 'none') return new Reader(tally, undefined, { PATH })
    if (page.server === 'new') return new Reader(tally, await tally.serve(), { PATH })
    prepared[page.server] ??= prepare(page.server)
    const { database, variables } = await prepared[page.server]!
    await writeFile(join(tally.dataDir, DATABASE_FILE), database, { mode: 0o600 })
    const server = await tally.serve()
    return new Reader(tally, server, { PATH, TALLY_URL: server.url, ...variables })
  }

  located(text: string): string {
    return locatedAt(text, this.server?.url)
  }

  async run(script: string): Promise<{ code: number; stdout: string; stderr: string }> {
    const shell = Bun.spawn(['sh', '-eu'], {
      cwd: this.tally.folder,
      env: { HOME: this.tally.folder, NO_COLOR: '1', ...SHORT_RUN, ...this.variables },
      stdin: Buffer.from(script),
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, code] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited])
    return { code, stdout, stderr }
  }

  async close(): Promise<void> {
    await this.server?.stop()
    await this.tally.remove()
  }
}

/** What is wrong with what a command printed, compared with what the manual shows: a field, or a value's type. */
function differences(shown: unknown, printed: unknown, at = '$'): string[] {
  const kind = (value: unknown) => (Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value)
  if (kind(shown) !== kind(printed)) return [`${at}: the manual shows ${kind(shown)}, not ${kind(printed)}`]
  if (Array.isArray(shown)) {
    const [first] = printed as unknown[]
    return shown.flatMap((each, index) => differences(each, (printed as unknown[])[index] ?? first, `${at}[${index}]`))
  }
  if (kind(shown) !== 'object') return []
  return Object.entries(shown as object).flatMap(([name, value]) =>
    Object.hasOwn(printed as object, name)
      ? differences(value, (printed as Record<string, unknown>)[name], `${at}.${name}`)
      : [`${at}.${name}: is not there`],
  )
}

/** Where a reader copies examples. */
export type Terminal = Pick<Reader, 'run' | 'located'>

/** Runs the examples of a page, and returns what is wrong with what it shows as their output. */
export async function wrongExamples(page: ManualPage, reader: Terminal): Promise<string[]> {
  const scripts = page.blocks.filter(isRun).map(({ text }) => text)
  const script = scripts.map((text) => `${reader.located(text)}\nprintf '${MARK}'\n`).join('')
  const { code, stdout, stderr } = await reader.run(script)
  const outputs = stdout.split(MARK)
  if (code !== 0) return [`${scripts[outputs.length - 1]}ended with ${code}: ${stderr}${outputs.at(-1)}`]
  let ran = -1
  const wrong: string[] = []
  for (const [index, block] of page.blocks.entries()) {
    if (isRun(block)) ran += 1
    const before = page.blocks[index - 1]
    if (block.language === 'text' && block.note === 'printed' && outputs[ran] !== reader.located(block.text)) {
      wrong.push(`It prints ${outputs[ran]}`)
    }
    if (block.language !== 'json' || block.note !== '' || !before || !isRun(before)) continue
    // What a program prints besides, such as the status line of curl, comes before.
    const printed = /[[{].*[\]}]/s.exec(outputs[ran]!)?.[0] ?? 'null'
    wrong.push(...differences(JSON.parse(block.text), JSON.parse(printed)))
  }
  return wrong
}
