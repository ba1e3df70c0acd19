/**
 * Prints what the embedded table charges for 120 names as agents and gateways write them, next to the price of each
 * source, in dollars per million tokens of input and output: `bun scripts/price-table/popular.ts`. The names are in
 * `popular-names.txt`, a provider after the name where the agent reports one. A test compares the lines with
 * `popular.tsv`, which `--write` updates.
 */
import { join } from 'node:path'
import { defaultTable } from '../../src/features/prices/default-table.ts'
import { PriceTable } from '../../src/features/prices/price-table.ts'
import { formatDecimal } from '../../src/lib/money.ts'
import { type Claim, type DatedPrice, readSources, type Sources } from './claims.ts'
import { DECISIONS } from './decisions.ts'
import { currentOf } from './merge.ts'
import { newestRelease, SOURCE_NAMES } from './packages.ts'

export const POPULAR_FILE = join(import.meta.dir, 'popular.tsv')
const NAMES_FILE = join(import.meta.dir, 'popular-names.txt')
const HEAD = ['name', 'provider', 'step', 'row', 'tally', ...SOURCE_NAMES, 'why']

export async function popularTable(): Promise<string> {
  const sources = await readSources()
  const table = new PriceTable(
    defaultTable().rows.map((row, index) => ({ ...row, id: index + 1, uid: 'prc_', source: 'default' })),
    defaultTable().aliases.map((alias) => ({ ...alias, source: 'default' })),
  )
  const names = (await Bun.file(NAMES_FILE).text()).trim().split('\n')
  const lines = names.map((line) => {
    const [name, provider = ''] = line.split(' ') as [string, string?]
    return lineOf(name, provider, table, sources).join('\t')
  })
  return `${[HEAD.join('\t'), ...lines].join('\n')}\n`
}

function lineOf(name: string, provider: string, table: PriceTable, sources: Sources): string[] {
  const hit = table.find(name, provider || null, Date.parse(newestRelease()))
  if (!hit) return [name, provider, '8', '', 'unpriced', ...SOURCE_NAMES.map(() => ''), 'no source lists it']
  const { price, step } = hit
  const { input, output } = price.rates.levels[0]!.prices
  const tally = baseText({ input, output })
  const claims = claimsOf(name, price.provider, price.model, sources)
  const texts = SOURCE_NAMES.map((source) => {
    const claim = claims.find((one) => one.source === source)
    return claim ? baseText(currentOf(claim)) : ''
  })
  const why = whyOf(tally, price.provider, price.model, claims)
  return [name, provider, String(step), `${price.provider} ${price.model}`, tally, ...texts, why]
}

/** What the sources say of the name itself, or else of the row that was found. */
function claimsOf(name: string, provider: string, model: string, { claims }: Sources): Claim[] {
  const listed = claims.get(provider)
  return listed?.get(name) ?? listed?.get(model) ?? []
}

function whyOf(tally: string, provider: string, model: string, claims: Claim[]): string {
  const others = claims.filter((claim) => baseText(currentOf(claim)) !== tally)
  if (others.length === 0) return claims.length > 1 ? 'all agree' : 'one source'
  const decision = DECISIONS.find((one) => one.prefer && one.provider === provider && one.names.test(model))
  if (decision) return decision.reason
  if (others.every(({ source }) => source === 'litellm-earlier')) return 'changed since the earlier release'
  if (others.every(({ isListed }) => !isListed)) return 'the pattern of genai-prices matches another model'
  const agreeing = claims.filter((claim) => !others.includes(claim))
  if (agreeing.length > 1) return 'majority'
  return agreeing[0]?.isDocumented
    ? 'cites the maker'
    : 'no two agree: the newest release of a maker’s price, genai-prices for resellers'
}

function baseText({ input, output }: Pick<DatedPrice, 'input' | 'output'>): string {
  return [input, output].map((price) => (price === null ? '-' : formatDecimal(price, 6))).join('/')
}

if (import.meta.main) {
  const text = await popularTable()
  if (process.argv.includes('--write')) await Bun.write(POPULAR_FILE, text)
  const cells = text
    .trim()
    .split('\n')
    .map((line) => line.split('\t'))
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)))
  for (const line of cells)
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}
