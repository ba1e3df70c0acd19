#!/usr/bin/env bun
import { hook, hookArguments } from './cli/agents/hook-run.ts'

const args = process.argv.slice(2)
const hookArgs = hookArguments(args)
if (hookArgs) {
  // At once: standard input may still be open.
  process.exit(await hook(hookArgs))
} else {
  // A reader that has seen enough, such as `head`, is no failure.
  process.stdout.on('error', ({ code }: { code?: string }) => process.exit(code === 'EPIPE' ? 0 : 1))
  // Only here, so that no agent waits for all of it.
  const { run } = await import('./cli/program.ts')
  process.exitCode = await run(args)
}
