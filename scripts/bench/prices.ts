/**
 * Loads real price tables into a new database and prints the time it takes, how many of LiteLLM's names resolve to
 * LiteLLM's own price, and how often a name resolves to a wrong price if its own row is missing.
 *
 *   scripts/bench/prices                  the tables in ../shared/data next to the checkout
 *   scripts/bench/prices --tables FOLDER  litellm-prices.json and models-dev-prices.json elsewhere
 *   scripts/bench/prices --sample 2000    sample size for names without their own row (default 400)
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { TALLY } from '../../src/access/actor.ts'
import type { Database, Tx } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { createAuditService } from '../../src/features/audit/service.ts'
import { createEventsService } from '../../src/features/events/service.ts'
import { createOrganizationService } from '../../src/features/organization/service.ts'
import { type PriceAlias, PriceTable, type StoredPrice } from '../../src/features/prices/price-table.ts'
import { createPricesService } from '../../src/features/prices/service.ts'
import { listAliases, listPrices } from '../../src/features/prices/store.ts'
import { isSamePrice } from '../../src/features/prices/update-offer.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { peakMegabytes, residentMegabytes } from './process-metrics.ts'

const ROOT = join(import.meta.dir, '../..')

const { values: options } = parseArgs({
  options: {
    tables: { type: 'string', default: join(ROOT, '../shared/data') },
    sample: { type: 'string', default: '400' },
  },
})

/** How long the last transaction held the write lock. */
let lockedMs = 0

function timed(db: Database): Database {
  return {
    ...db,
    write: async <Result>(body: (tx: Tx) => Promise<Result>) =>
      db.write(async (tx) => {
        const startedAt = performance.now()
        const result = await body(tx)
        lockedMs = performance.now() - startedAt
        return result
      }),
  }
}

type Prices = ReturnType<typeof createPricesService>

async function load(prices: Prices, name: string): Promise<void> {
  const text = await Bun.file(join(options.tables, `${name}-prices.json`)).text()
  const before = residentMegabytes(process.pid)
  const startedAt = performance.now()
  const planned = await prices.planTable(text, {})
  const plannedMs = performance.now() - startedAt
  lockedMs = 0
  const { plan } = await prices.load(planned, TALLY)
  const ms = performance.now() - startedAt
  const megabytes = residentMegabytes(process.pid) - before
  console.log(
    `${name.padEnd(12)} ${String(plan.additions.length).padStart(6)} added ${String(plan.unchanged).padStart(6)} unchanged ${String(plan.refused.length).padStart(5)} refused   ${ms.toFixed(0).padStart(5)} ms, of which ${plannedMs.toFixed(0)} parsing and planning and ${lockedMs.toFixed(0)} holding the lock; ${megabytes.toFixed(0)} MB more resident, peak ${peakMegabytes(process.pid).toFixed(0)} MB`,
  )
}

type Verdict = 'right' | 'wrong' | 'unpriced'

/** How a row's name resolves: to the row's own price, to another one, or not at all. */
function verdictOf(
  table: PriceTable,
  rows: Map<number, StoredPrice>,
  row: StoredPrice,
  provider: string | null,
): Verdict {
  const hit = table.find(row.model, provider, Date.now())
  if (!hit) return 'unpriced'
  return isSamePrice(row, rows.get(hit.price.id)) ? 'right' : 'wrong'
}

function printVerdicts(what: string, verdicts: Verdict[]): void {
  const { right = [], wrong = [], unpriced = [] } = Object.groupBy(verdicts, (verdict) => verdict)
  const share = (part: Verdict[]) => `${part.length} (${((part.length * 100) / verdicts.length).toFixed(1)}%)`
  console.log(
    `${what.padEnd(44)} ${verdicts.length} names: ${share(right)} right, ${share(wrong)} wrong, ${share(unpriced)} unpriced`,
  )
}

/** Prints how LiteLLM's names resolve in the tables loaded so far. */
function tellNames(stored: StoredPrice[], aliases: PriceAlias[]): void {
  const rows = new Map(stored.map((row) => [row.id, row]))
  const table = new PriceTable(stored, aliases)
  const litellm = stored.filter((row) => row.source === 'litellm')
  printVerdicts(
    '  LiteLLM’s names, with the provider',
    litellm.map((row) => verdictOf(table, rows, row, row.provider)),
  )
  printVerdicts(
    '  LiteLLM’s names, without the provider',
    litellm.map((row) => verdictOf(table, rows, row, null)),
  )
}

await mkdir(join(ROOT, 'dist'), { recursive: true })
const dataDir = await mkdtemp(join(ROOT, 'dist/bench-prices-'))
const opened = await openDatabase({ dataDir, clock: systemClock })
try {
  const db = timed(opened)
  const audit = createAuditService({ db, clock: systemClock, events: createEventsService({ db, clock: systemClock }) })
  const organization = createOrganizationService({ db, audit })
  const prices = createPricesService({ db, clock: systemClock, audit, organization })
  await prices.loadDefaultPrices()
  console.log(`embedded     ${(await listPrices(db.read)).length} rows`)
  for (const name of ['litellm', 'models-dev']) {
    await load(prices, name)
    tellNames(await listPrices(db.read), await listAliases(db.read))
  }
  for (const name of ['litellm', 'models-dev']) await load(prices, name)

  const stored = await listPrices(db.read)
  const aliases = await listAliases(db.read)
  const rows = new Map(stored.map((row) => [row.id, row]))
  const litellm = stored.filter((row) => row.source === 'litellm')
  console.log('\nA sample of these names, each without its own row:')
  const every = Math.max(1, Math.floor(litellm.length / Number(options.sample)))
  const sample = litellm.filter((_, index) => index % every === 0)
  const without = (of: (row: StoredPrice) => boolean) => (missing: StoredPrice) =>
    new PriceTable(
      stored.filter((row) => row.id !== missing.id && of(row)),
      aliases,
    )
  const only = without((row) => row.source === 'litellm')
  const all = without(() => true)
  const verdicts = sample.map((row) => {
    const [alone, together] = [only(row), all(row)]
    return [
      verdictOf(alone, rows, row, null),
      verdictOf(alone, rows, row, row.provider),
      verdictOf(together, rows, row, null),
    ] as const
  })
  printVerdicts(
    '  LiteLLM’s table, by the name',
    verdicts.map(([verdict]) => verdict),
  )
  printVerdicts(
    '  LiteLLM’s table, with the provider',
    verdicts.map(([, verdict]) => verdict),
  )
  printVerdicts(
    '  all three tables, by the name',
    verdicts.map(([, , verdict]) => verdict),
  )
} finally {
  await opened.close()
  await rm(dataDir, { recursive: true })
}
