import { readdirSync, readFileSync } from 'node:fs'

/** The ids of the processes that a process has started, by the system's table. Linux only. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isRunningChild(pid, parent))
}

function isRunningChild(pid: number, parent: number): boolean {
  try {
    const [state, found] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return Number(found) === parent && state !== 'Z'
  } catch {
    // It has ended meanwhile.
    return false
  }
}

/** The command line of a process; empty if it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Whether it does something still; a zombie does not. */
export function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]![0] !== 'Z'
  } catch {
    return false
  }
}

/** Waits until something is so, for at most `limitMs`, which is longer than a busy machine needs, and returns whether it is. */
export async function until(isSo: () => boolean | Promise<boolean>, limitMs = 60_000): Promise<boolean> {
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    if (await isSo()) return true
    await Bun.sleep(5)
  }
  return isSo()
}
