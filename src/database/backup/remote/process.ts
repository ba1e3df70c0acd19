/** The process that performs one task with remote backups for a server: see tasks.ts. */
import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { BackupError } from './encryption.ts'
import { type CheckDatabase, performTask, type RemoteTask } from './tasks.ts'

/** As the thread that makes backups: everything that a person waits for comes first. */
const NICENESS = 15

/** If memory runs out, the system ends this process and not the server. */
const OOM_SCORE = '800'

/** Performs the task that the server sends, and ends. Returns false if the process was started by hand. */
export function performRemoteTask(check: CheckDatabase): boolean {
  if (!process.send) return false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
  process.on('disconnect', () => process.exit(0))
  if (process.platform === 'linux') setPriority(0, NICENESS)
  try {
    writeFileSync('/proc/self/oom_score_adj', OOM_SCORE)
  } catch {
    // Not on Linux.
  }
  process.on('message', async (task: RemoteTask) => {
    process.send!(await answerTo(task, check), () => process.exit(0))
  })
  return true
}

/** What the process answers. */
export type RemoteAnswer = { result: unknown } | { error: { message: string; isExpected: boolean } }

async function answerTo(task: RemoteTask, check: CheckDatabase): Promise<RemoteAnswer> {
  try {
    return { result: await performTask(task, check) }
  } catch (error) {
    const { message } = error as Error
    return { error: { message, isExpected: error instanceof BackupError } }
  }
}
