/** The executable's server and a browser, for the tests of pages in the surrounding `describe`. */
import { afterAll, beforeAll } from 'bun:test'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { Installation, type Server } from './binary.ts'
import { closeAll, launchBrowser, nothingKept, type Visit, type VisitOptions, visit } from './browser.ts'
import { copyDemo } from './demo.ts'
import { until } from './processes.ts'
import type { Credentials } from './session.ts'

/** The demo data take some seconds, and several times as long on a busy machine. */
const START_MS = 300_000

export interface WebStage {
  installation: Installation
  server: Server
  /** A browser window of a person, or of nobody. */
  visit(options?: Omit<VisitOptions, 'url' | 'kept'>): Promise<Visit>
}

export interface Person extends Credentials {
  name: string
  role: 'admin' | 'billing' | 'member' | 'viewer'
}

interface WebStageOptions {
  people?: readonly Person[]
  /** Whether its database has the demo data. Their people sign in with {@link DEMO_PASSWORD}. */
  demo?: boolean
  /** Of `tally serve`. */
  args?: string[]
}

let launched: Promise<Browser> | undefined

/** One browser for all stages of a process, which ends with it; another if a test that took too long has killed it. */
async function sharedBrowser(): Promise<Browser> {
  const browser = await launched
  if (browser?.isConnected()) return browser
  launched = launchBrowser()
  return launched
}

/** The link that a server without people prints once it is ready. */
export async function setupLink(server: Server): Promise<string> {
  let link: string | undefined
  await until(async () => {
    link = /http:\/\/\S+\/setup#\w+/.exec(await server.log())?.[0]
    return link !== undefined
  }, START_MS)
  return link!
}

/** Everything is removed after the last test. */
export function webStage({ people = [], demo = false, args = ['--log-level', 'warn'] }: WebStageOptions): WebStage {
  const stage = {} as WebStage
  const kept = nothingKept()
  beforeAll(async () => {
    const installation = await Installation.brief()
    stage.installation = installation
    if (demo) await copyDemo(join(installation.folder, 'tally-data'))
    for (const { name, email, role, password } of people) {
      const words = ['users', 'add', '--email', email, '--name', name, '--role', role, '--password-stdin']
      const { code, stderr } = await installation.run(words, password)
      if (code !== 0) throw new Error(stderr)
    }
    stage.server = await installation.serve(args)
    stage.visit = async (options) => visit(await sharedBrowser(), { url: stage.server.url, kept, ...options })
  }, START_MS)
  afterAll(async () => {
    await closeAll(kept)
    await stage.server?.stop()
    await stage.installation?.remove()
  })
  return stage
}
