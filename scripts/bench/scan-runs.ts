/** Runs of programs that read agents' session files. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

export interface Run {
  seconds: number
  /** On all processors together, which depends less on other load on the machine. */
  processorSeconds: number
  megabytes: number
  stdout: string
}

export const scanWith = (program: string) => [program, 'agents', 'scan', '--json']
export const readWith = (ccusage: string) => [ccusage, 'daily', '--json', '--offline']

interface Surroundings {
  cwd?: string
  /** Variables other than HOME. */
  env?: Record<string, string | undefined>
}

/** Runs a program to its end. Its memory is the peak. */
export async function runProgram(command: string[], home: string, { cwd, env }: Surroundings = {}): Promise<Run> {
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    ...(cwd !== undefined && { cwd }),
    env: { ...env, HOME: home, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const seconds = (performance.now() - startedAt) / 1_000
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}: ${stderr || stdout}`)
  const usage = child.resourceUsage()!
  return { seconds, processorSeconds: Number(usage.cpuTime.total) / 1e6, megabytes: usage.maxRSS / 1e6, stdout }
}

/** The first scan of a home folder: without anything that Tally keeps of earlier ones. */
export async function runFirstScan(program: string, home: string): Promise<Run> {
  for (const kept of ['.cache', '.local/state']) await rm(join(home, kept), { recursive: true, force: true })
  return runProgram(scanWith(program), home)
}
