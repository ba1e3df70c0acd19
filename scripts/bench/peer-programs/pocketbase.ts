/** Reports to Tally, compared with records that PocketBase creates of the same bodies. */
import { join } from 'node:path'
import { freePort } from '../../../test/support/binary.ts'
import { cleanedUp, printProgress } from '../clean-up.ts'
import { processorSeconds, writtenBytes } from '../process-metrics.ts'
import { sqliteEngine } from '../reporting/databases.ts'
import { type LoadedServers, measure, type Throughput, untilIdle, WARM_UP_SECONDS } from '../reporting/throughput.ts'
import { ratiosOf } from '../spread.ts'
import { alternate, type Context, LeftOut, type Measured, type Peer } from './peer.ts'
import { batches, reportToTally, singles } from './tally.ts'

const SOURCE = join(import.meta.dir, 'pocketbase')

/** Go's own installation is often not in PATH. */
const GO = Bun.which('go') ?? Bun.which('/usr/local/go/bin/go')

const VERSION = /pocketbase (v\S+)/.exec(await Bun.file(join(SOURCE, 'go.mod')).text())![1]

const PATH = '/api/collections/token_entries/records'

interface Printed {
  token: string
  journal_mode: string
  synchronous: string
}

/** By SQLite's number of it. */
const SYNCHRONOUS = ['off', 'normal', 'full', 'extra']

/** Compiles it with the packages in its go.sum, which takes minutes the first time. */
async function compile(go: string, { folder, stack }: Context): Promise<string> {
  const program = join(folder, 'pocketbase')
  const build = Bun.spawn([go, 'build', '-o', program, '.'], {
    cwd: SOURCE,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  stack.defer(() => build.kill())
  const [errors, code] = await Promise.all([build.stderr.text(), build.exited])
  if (code !== 0) throw new Error(`PocketBase could not be compiled:\n${errors}`)
  return program
}

async function start(program: string, folder: string, stack: AsyncDisposableStack) {
  const data = join(folder, `pocketbase-${crypto.randomUUID()}`)
  const port = freePort()
  const child = Bun.spawn([program, data, `127.0.0.1:${port}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  stack.defer(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  const { value } = await child.stdout.getReader().read()
  const printed: Printed = JSON.parse(new TextDecoder().decode(value))
  while (!(await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined))?.ok) await Bun.sleep(10)
  const servers: LoadedServers = {
    ports: [port],
    database: { file: join(data, 'data.db') },
    processorSeconds: () => processorSeconds(child.pid),
    writtenBytes: () => writtenBytes(child.pid),
  }
  return { servers, printed }
}

async function measurePocketBase(context: Context): Promise<Measured> {
  if (!GO) throw new LeftOut('Go')
  printProgress('compiling PocketBase')
  const program = await compile(GO, context)
  const sqlite = sqliteEngine(context.folder)
  let settings = ''
  const results = await alternate<'singles' | 'batches' | 'pocketbase', Throughput>(
    context,
    {
      singles: () => reportToTally(context, sqlite, singles(context)),
      batches: () => reportToTally(context, sqlite, batches(context)),
      pocketbase: () =>
        cleanedUp(context.stack, async (stack) => {
          const { servers, printed } = await start(program, context.folder, stack)
          settings = `journal_mode ${printed.journal_mode}, synchronous ${SYNCHRONOUS[Number(printed.synchronous)]}`
          const load = { ...singles(context), path: PATH }
          const options = { created: '200' }
          await measure(servers, sqlite, printed.token, { ...load, seconds: WARM_UP_SECONDS }, options)
          await untilIdle(servers)
          return measure(servers, sqlite, printed.token, load, { ...options, includesLaterWork: true })
        }),
    },
    (side, round) => printProgress(`round ${round + 1}: ${side}`),
  )
  const micros = (side: keyof typeof results) => results[side].map(({ processorMicros }) => processorMicros)
  const rates = (side: keyof typeof results) => results[side].map(({ entriesPerSecond }) => entriesPerSecond)
  const theirs = `PocketBase ${VERSION} (${settings})`
  return {
    ratios: [
      ratiosOf(micros('singles'), micros('pocketbase')),
      ratiosOf(micros('batches'), micros('pocketbase')),
      ratiosOf(rates('singles'), rates('pocketbase')),
    ],
    absolute: [
      { name: `${theirs}: processor time of a create`, rounds: micros('pocketbase'), unit: 'µs' },
      { name: `${theirs}: creates from 64 connections`, rounds: rates('pocketbase'), unit: '/s' },
      {
        name: 'Tally, SQLite (synchronous full): processor time of a single report',
        rounds: micros('singles'),
        unit: 'µs',
      },
      { name: 'Tally, SQLite: processor time of an entry of a batch', rounds: micros('batches'), unit: 'µs' },
      { name: 'Tally, SQLite: single reports from 64 connections', rounds: rates('singles'), unit: '/s' },
    ],
  }
}

export const pocketbase: Peer = {
  goals: [
    { name: `processor time of a single report ÷ a create in PocketBase ${VERSION}`, atMost: 0.2 },
    { name: 'processor time of an entry of a batch of 100 ÷ the same create', atMost: 0.07 },
    { name: 'single reports/s ÷ creates/s in PocketBase, 64 connections', atLeast: 5 },
  ],
  measure: measurePocketBase,
}
