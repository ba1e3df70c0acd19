/** ccusage, another program that reads agents' session files, for comparison. It is installed if needed. */
import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The version that the tests compare: others may count differently. */
export const CCUSAGE_VERSION = '20.0.24'

/** A registry that has not responded by then is unavailable. */
const INSTALL_TIMEOUT_MS = 60_000

export interface Breakdown {
  modelName: string
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheCreationTokens: number
  cost: number
}

export interface CcusageSession {
  sessionId: string
  inputTokens: number
  outputTokens: number
  cacheReadTokens: number
  cacheCreationTokens: number
  totalTokens: number
  modelBreakdowns: Breakdown[]
}

export class Ccusage {
  private constructor(readonly folder: string) {}

  /** Undefined if it cannot be installed, or does not run here. */
  static async install(): Promise<Ccusage | undefined> {
    const ccusage = new Ccusage(await realpath(await mkdtemp(join(tmpdir(), 'tally-ccusage-'))))
    try {
      await Bun.write(join(ccusage.folder, 'package.json'), '{}')
      const adding = Bun.spawn([process.execPath, 'add', '--exact', `ccusage@${CCUSAGE_VERSION}`], {
        cwd: ccusage.folder,
        stdio: ['ignore', 'ignore', 'ignore'],
        timeout: INSTALL_TIMEOUT_MS,
      })
      if ((await adding.exited) === 0) {
        // Its launcher does the same, as not every package manager keeps this bit.
        await chmod(ccusage.program, 0o755)
        if ((await ccusage.#run(ccusage.folder, ['--version'])).code === 0) return ccusage
      }
    } catch {
      // As below.
    }
    await ccusage.remove()
    return undefined
  }

  /** The native program in the package, as its launcher starts it. */
  get program(): string {
    return join(this.folder, `node_modules/@ccusage/ccusage-${process.platform}-${process.arch}/bin/ccusage`)
  }

  /** Its totals of an agent's sessions under a home folder, at the prices that it includes. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape differs from agent to agent
  async sessions(agent: string, home: string): Promise<{ sessions: any[]; totals: any }> {
    const { code, stdout, stderr } = await this.#run(home, [
      agent,
      'session',
      '--json',
      '--offline',
      '--timezone',
      'UTC',
    ])
    if (code !== 0) throw new Error(`ccusage ${agent} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout)
  }

  async #run(home: string, args: string[]) {
    const child = Bun.spawn([this.program, ...args], {
      env: { HOME: home, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { stdout, stderr, code }
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }
}
