/**
 * Measures the memory of `tally agents watch` beside that of `tally agents status` in the same run, and the processor time of
 * the watcher with all processes that it starts: over a minute in which nothing happens, and over minutes in which a
 * session grows every second. Linux only. Prints Markdown.
 *
 *   scripts/bench/watch                   200,000 lines of session files, with dist/tally
 *   scripts/bench/watch --lines 10000     number of lines
 *   scripts/bench/watch --minutes 5       minutes in which the session grows
 *   scripts/bench/watch --program PATH    another executable
 */
import { appendFile, mkdtemp } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeCorpus } from './agents-corpus.ts'
import { printProgress, runAndCleanUp } from './clean-up.ts'
import { familyProcessorSeconds, peakMegabytes, residentMegabytes } from './process-metrics.ts'

const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '200000' },
    minutes: { type: 'string', default: '3' },
    program: { type: 'string', default: join(import.meta.dir, '../../dist/tally') },
  },
})
const [lines, minutes] = [Number(options.lines), Number(options.minutes)]
if (!(lines > 0) || !(minutes > 0)) throw new Error('--lines and --minutes must be positive numbers.')

const MINUTE_MS = 60_000

/** A line of Claude Code, of a call of its own. */
const call = (id: string) =>
  `${JSON.stringify({
    type: 'assistant',
    message: { id: `msg_${id}`, model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: 10 } },
    requestId: `req_${id}`,
    sessionId: 'growing',
    timestamp: new Date().toISOString(),
  })}\n`

await runAndCleanUp(async (stack) => {
  const home = await mkdtemp(join(tmpdir(), 'tally-bench-watch-'))
  stack.defer(async () => void (await Bun.$`rm -r ${home}`.quiet()))
  printProgress('writing session files')
  const { lines: written } = await writeCorpus(join(home, '.claude/projects'), lines)
  /** Acknowledges everything. */
  let reports = 0
  let reported = 0
  const server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      if (request.method === 'GET')
        return Response.json({ kind: 'service', person: {}, organization: { time_zone: 'UTC' } })
      // What was not read.
      if (request.method === 'PUT') return Response.json({})
      const sent = (await request.json()) as unknown[]
      reports += 1
      reported += sent.length
      return Response.json({ results: sent.map(() => ({ result: 'updated', entry: {}, entries: [{}] })) })
    },
  })
  stack.defer(() => server.stop(true))
  const env = { HOME: home, NO_COLOR: '1', TALLY_URL: server.url.origin, TALLY_TOKEN: 'tally_svc_bench' }
  const watcher = Bun.spawn([options.program, 'agents', 'watch'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  stack.defer(async () => {
    watcher.kill()
    await watcher.exited
  })
  printProgress('waiting for the first report')
  while (reported === 0) await Bun.sleep(100)
  await Bun.sleep(MINUTE_MS)

  async function share(ms: number, everySecond: () => Promise<void>): Promise<number> {
    const before = familyProcessorSeconds(watcher.pid)
    for (const endsAt = performance.now() + ms; performance.now() < endsAt; ) {
      await everySecond()
      await Bun.sleep(1_000)
    }
    return (familyProcessorSeconds(watcher.pid) - before) / (ms / 1_000)
  }
  printProgress('a quiet minute')
  const quiet = await share(MINUTE_MS, async () => {})
  const path = join(home, '.claude/projects/-home-dev-project-1/growing.jsonl')
  printProgress(`${minutes} minutes with a session that grows`)
  const before = reports
  const growing = await share(minutes * MINUTE_MS, () => appendFile(path, call(crypto.randomUUID())))
  const grown = reports - before
  const status = Bun.spawn([options.program, 'agents', 'status'], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  await status.exited
  const statusMegabytes = status.resourceUsage()!.maxRSS / 1e6
  const [resident, peak] = [residentMegabytes(watcher.pid), peakMegabytes(watcher.pid)]
  console.log(`${written.toLocaleString('en')} lines of session files, on ${cpus().length} × ${cpus()[0]?.model}.\n`)
  console.log('| | |\n| --- | ---: |')
  console.log(`| \`tally agents status\`, peak | ${statusMegabytes.toFixed(0)} MB |`)
  console.log(`| \`tally agents watch\`, resident · peak | ${resident.toFixed(0)} · ${peak.toFixed(0)} MB |`)
  console.log(`| ratio | ${(resident / statusMegabytes).toFixed(2)} |`)
  console.log(`| processor, quiet | ${(quiet * 100).toFixed(2)}% |`)
  console.log(`| processor, growing every second, ${grown} reports | ${(growing * 100).toFixed(2)}% |`)
})
