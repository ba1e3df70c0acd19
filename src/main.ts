#!/usr/bin/env bun
import { run } from './cli/program.ts'

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', ({ code }: { code?: string }) => process.exit(code === 'EPIPE' ? 0 : 1))

process.exitCode = await run(process.argv.slice(2))
