#!/usr/bin/env bun
import { hook, hookArguments } from './cli/agents/hook-run.ts'

const args = process.argv.slice(2)
const hookArgs = hookArguments(args)
if (hookArgs) {
  // At once: standard input may still be open.
  process.exit(await hook(hookArgs))
} else if (args.join(' ') === 'agents limits') {
  const { statusLine } = await import('./cli/agents/limits-run.ts')
  process.exit(await statusLine())
} else if (args.length === 1 && args[0] === 'slow-reads') {
  // Started by a server, and listed in no help: apart from the other commands, as a report may wait for its start.
  const [{ serveSlowReads }, { SLOW_TASKS, SLOW_STREAMS }] = await Promise.all([
    import('./database/engines/slow/process.ts'),
    import('./slow-tasks.ts'),
  ])
  const isServing = serveSlowReads({ tasks: SLOW_TASKS, streams: SLOW_STREAMS })
  if (!isServing) {
    process.stderr.write('tally: slow-reads is started by tally serve only\n')
    process.exitCode = 2
  }
} else if (args.length === 1 && args[0] === 'remote-backups') {
  // Started by a server for one task with its backups, and listed in no help.
  const { performRemoteTask } = await import('./database/backup/remote/process.ts')
  const isServing = performRemoteTask(async (folder, file) => {
    const { checkRestored } = await import('./cli/backup/check-restored.ts')
    return checkRestored(folder, file)
  })
  if (!isServing) {
    process.stderr.write('tally: remote-backups is started by tally serve only\n')
    process.exitCode = 2
  }
} else {
  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on('error', ({ code }: { code?: string }) => process.exit(code === 'EPIPE' ? 0 : 1))
  // Only here, so that no agent waits for all of it.
  const { run } = await import('./cli/program.ts')
  process.exitCode = await run(args)
}
