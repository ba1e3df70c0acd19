/**
 * Generates `src/features/prices/default-prices.json`, the prices a new database starts with, from the pinned npm
 * package `@pydantic/genai-prices` (MIT): `bun scripts/price-table.ts`. A unit test checks that what is committed is
 * what this makes. Run it after every update of the package.
 *
 * The package lists prices per million tokens as JavaScript numbers. Their shortest decimal text is what its authors
 * wrote, so that text is read, never the number, and becomes pico-dollars per token.
 *
 * Left out, each kind counted when the script runs:
 * - prices that hold for some hours of the day only (DeepSeek's peak hours): a session has one start but may run
 *   through both, so its value stays the lower bound that the price without hours gives;
 * - models without a price for text tokens. The package writes an empty price both for what is free and for what it
 *   does not know, and unknown must never be taken for free;
 * - models that charge reasoning or citation tokens apart from output, since reported output includes them;
 * - what is not text tokens: audio, images, pages, searches, requests.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ConditionalPrice,
  type MatchLogic,
  type ModelInfo,
  type ModelPrice,
  type Provider,
  updatePrices,
  waitForUpdate,
} from '@pydantic/genai-prices'
import type { DefaultPrice, DefaultPriceTier, DefaultTable } from '../src/features/prices/default-table.ts'
import { divideHalfEven, parseDecimal } from '../src/lib/money.ts'

/** The package does not carry its own date; the registry does. A change of version must change both. */
const PINNED = { version: '0.1.8', published: '2026-09-23' }

/** The package exports its code alone; what lies beside that is found from there. */
const PACKAGE_FOLDER = join(fileURLToPath(import.meta.resolve('@pydantic/genai-prices')), '../..')

const PRICES_FOLDER = join(import.meta.dir, '../src/features/prices')
const TABLE_PATH = join(PRICES_FOLDER, 'default-prices.json')
const NOTICE_PATH = join(PRICES_FOLDER, 'default-prices.LICENSE')

const PRICE_KEYS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cache_read: 'cache_read_mtok',
  cache_write: 'cache_write_mtok',
  cache_write_1h: 'cache_write_1h_mtok',
} as const
type PriceKind = keyof typeof PRICE_KEYS
const PRICE_KINDS = Object.keys(PRICE_KEYS) as PriceKind[]

/** Kinds that are part of what agents report as output, so that one output price would be wrong for them. */
const PARTS_OF_OUTPUT = ['output_reasoning_mtok', 'output_citation_mtok']

interface LeftOut {
  hoursOfDay: number
  noTextPrice: number
  outputInParts: number
}

/** Everything the script writes, as text, and what it had to leave out. */
export async function generatePriceTable(): Promise<{ table: string; notice: string; leftOut: LeftOut }> {
  const { version } = await Bun.file(join(PACKAGE_FOLDER, 'package.json')).json()
  if (version !== PINNED.version) {
    throw new Error(`The package is at ${version}: set PINNED to that and to its day of publication.`)
  }
  const leftOut: LeftOut = { hoursOfDay: 0, noTextPrice: 0, outputInParts: 0 }
  const rows: DefaultPrice[] = []
  const aliases: DefaultTable['aliases'] = []
  for (const provider of await packagedProviders()) {
    const taken = new Set(provider.models.map((model) => model.id))
    for (const model of provider.models) {
      const modelRows = rowsOf(provider.id, model, leftOut)
      rows.push(...modelRows)
      if (modelRows.length > 0) aliases.push(...aliasesOf(provider.id, model, taken))
    }
  }
  return { table: tableText(rows, aliases), notice: await noticeText(), leftOut }
}

/** The data that the package carries: what it answers when nobody has put an update beside it. */
async function packagedProviders(): Promise<Provider[]> {
  updatePrices(() => undefined)
  const providers = await waitForUpdate()
  if (!providers) throw new Error('The package answers no prices.')
  return providers
}

function rowsOf(provider: string, model: ModelInfo, leftOut: LeftOut): DefaultPrice[] {
  const conditional: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }]
  const rows: DefaultPrice[] = []
  for (const { constraint, prices } of conditional) {
    if (constraint?.type === 'time_of_date') leftOut.hoursOfDay += 1
    else if (PARTS_OF_OUTPUT.some((key) => prices[key] !== undefined)) leftOut.outputInParts += 1
    else if (prices[PRICE_KEYS.input] === undefined && prices[PRICE_KEYS.output] === undefined) leftOut.noTextPrice += 1
    else {
      const where = `${provider} ${model.id}`
      rows.push({
        provider,
        model: model.id,
        ...basePrices(prices, where),
        ...tiersOf(prices, where),
        ...(constraint ? { effective_from: constraint.start_date } : {}),
      })
    }
  }
  return rows
}

function basePrices(prices: ModelPrice, where: string): Partial<Record<PriceKind, number>> {
  const base: Partial<Record<PriceKind, number>> = {}
  for (const kind of PRICE_KINDS) {
    const price = prices[PRICE_KEYS[kind]]
    if (price !== undefined) base[kind] = picosPerToken(typeof price === 'number' ? price : price.base, where)
  }
  return base
}

/** Tiers stand beside each kind of price in the package; here each beginning has the prices that change there. */
function tiersOf(prices: ModelPrice, where: string): { tiers?: DefaultPriceTier[] } {
  const tiers = new Map<number, DefaultPriceTier>()
  for (const kind of PRICE_KINDS) {
    const price = prices[PRICE_KEYS[kind]]
    if (price === undefined || typeof price === 'number') continue
    for (const { start, price: above } of price.tiers) {
      // The package takes the higher price for more than `start` tokens.
      const tier = tiers.get(start + 1) ?? { from_tokens: start + 1 }
      tier[kind] = picosPerToken(above, where)
      tiers.set(start + 1, tier)
    }
  }
  if (tiers.size === 0) return {}
  return { tiers: [...tiers.values()].sort((one, other) => one.from_tokens - other.from_tokens) }
}

/**
 * Dollars per million tokens as pico-dollars per token. What is finer than that is the noise of somebody's
 * floating-point arithmetic (0.18000000000000002) or a repeating fraction (1/12), and is rounded; a genuine finer
 * price would need another unit, so it stops the script.
 */
function picosPerToken(dollarsPerMillion: number, where: string): number {
  const text = String(dollarsPerMillion)
  const picos = parseDecimal(text, 6)
  if (picos === undefined || picos < 0n) throw new Error(`${where}: '${text}' is no price.`)
  const finer = parseDecimal(text, 12)! - picos * 1_000_000n
  const off = finer < 0n ? -finer : finer
  if (off !== 0n && divideHalfEven(picos * 1_000_000n, off) < 100_000n) {
    throw new Error(`${where}: '${text}' is finer than a pico-dollar per token.`)
  }
  return Number(picos)
}

/** The other names of a model, but those which another model of the provider has; the package takes the first, too. */
function aliasesOf(provider: string, model: ModelInfo, taken: Set<string>): DefaultTable['aliases'] {
  const names = [...new Set(wholeNames(model.match))].filter((name) => !taken.has(name))
  for (const name of names) taken.add(name)
  return names.length > 0 ? [{ provider, model: model.id, names }] : []
}

/**
 * Names that a model's clauses match for certain, without matching any pattern: those of its `equals` clauses, and
 * the bare beginning of a `starts_with` clause where that is a whole name (`claude-3-5-haiku`).
 */
function wholeNames(clause: MatchLogic): string[] {
  if ('or' in clause) return clause.or.flatMap(wholeNames)
  if ('equals' in clause) return [clause.equals]
  if ('starts_with' in clause && /[a-z0-9]$/i.test(clause.starts_with)) return [clause.starts_with]
  return []
}

/** One row a line, so that a new version of the package is a readable difference. */
function tableText(rows: DefaultPrice[], aliases: DefaultTable['aliases']): string {
  const lines = (items: unknown[]) => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')
  const body = `  "prices": [\n${lines(rows)}\n  ],\n  "aliases": [\n${lines(aliases)}\n  ]`
  // The digest makes a new version of what a change to this script changes as well.
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 8)
  const head = {
    made_from: `@pydantic/genai-prices ${PINNED.version}, published ${PINNED.published}, MIT: see default-prices.LICENSE`,
    version: `${PINNED.version}+${digest}`,
    unit: 'pico-dollars (1e-12 USD) per token',
  }
  const headLines = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${headLines.join(',\n')},\n${body}\n}\n`
}

async function noticeText(): Promise<string> {
  const license = await Bun.file(join(PACKAGE_FOLDER, 'LICENSE')).text()
  return `default-prices.json is made from @pydantic/genai-prices ${PINNED.version} (https://github.com/pydantic/genai-prices),\nwhich is under this license:\n\n${license.trimEnd()}\n`
}

if (import.meta.main) {
  const { table, notice, leftOut } = await generatePriceTable()
  await Bun.write(TABLE_PATH, table)
  await Bun.write(NOTICE_PATH, notice)
  const { version, prices, aliases } = JSON.parse(table) as DefaultTable
  const names = aliases.reduce((sum, alias) => sum + alias.names.length, 0)
  console.log(`${version}: ${prices.length} prices, ${names} other names. Left out: ${JSON.stringify(leftOut)}`)
}
