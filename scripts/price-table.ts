/**
 * Generates `src/features/prices/default-prices.json`, the prices a new database starts with, from the pinned npm
 * package `@pydantic/genai-prices` (MIT): `bun scripts/price-table.ts`. A unit test checks that what is committed is
 * what this makes. Run it after every update of the package.
 *
 * The package is read as `tally prices load` reads its data, so both come to the same rows. Left out, each kind counted
 * when the script runs:
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
import { type Provider, updatePrices, waitForUpdate } from '@pydantic/genai-prices'
import type { DefaultPrice, DefaultPriceTier, DefaultTable } from '../src/features/prices/default-table.ts'
import type { ListedPrice, ReasonCode } from '../src/features/prices/formats/reading.ts'
import { readTable } from '../src/features/prices/formats/table-file.ts'
import { PRICE_FIELDS, PRICED_KINDS, type PriceTier, type TokenPrices } from '../src/features/prices/rate.ts'
import type { PriceAlias } from '../src/features/prices/resolve.ts'

/** The package does not carry its own date; the registry does. A change of version must change both. */
const PINNED = { version: '0.1.8', published: '2026-09-23' }

/** The package exports its code alone; what lies beside that is found from there. */
const PACKAGE_FOLDER = join(fileURLToPath(import.meta.resolve('@pydantic/genai-prices')), '../..')

const PRICES_FOLDER = join(import.meta.dir, '../src/features/prices')
const TABLE_PATH = join(PRICES_FOLDER, 'default-prices.json')
const NOTICE_PATH = join(PRICES_FOLDER, 'default-prices.LICENSE')

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
  const { rows, aliases, refused, skipped } = readTable(
    JSON.stringify(await packagedProviders()),
    'genai-prices',
  ).reading
  const refusedFor = (code: ReasonCode) =>
    refused.filter(({ reasons }) => reasons.some((reason) => reason.code === code))
  const leftOut: LeftOut = {
    hoursOfDay: skipped['price for some hours of the day'] ?? 0,
    noTextPrice: refusedFor('no_input_price').length,
    outputInParts: refusedFor('output_in_parts').length,
  }
  // Anything else that is wrong with a row is a change of the package that somebody has to look at.
  if (refused.length > leftOut.noTextPrice + leftOut.outputInParts) throw new Error(JSON.stringify(refused))
  return { table: tableText(rows.map(priceOf), namesOf(aliases)), notice: await noticeText(), leftOut }
}

/** The data that the package carries: what it answers when nobody has put an update beside it. */
async function packagedProviders(): Promise<Provider[]> {
  updatePrices(() => undefined)
  const providers = await waitForUpdate()
  if (!providers) throw new Error('The package answers no prices.')
  return providers
}

function priceOf({ provider, model, tiers, effectiveFrom, ...prices }: ListedPrice): DefaultPrice {
  return {
    provider,
    model,
    ...numbersOf(prices),
    ...(tiers.length > 0
      ? { tiers: tiers.map((tier) => ({ from_tokens: tier.fromTokens, ...numbersOf(tier.prices) })) }
      : {}),
    ...(effectiveFrom == null ? {} : { effective_from: new Date(effectiveFrom).toISOString().slice(0, 10) }),
  }
}

/** The prices that are known, as numbers: none exceeds 10^9. */
function numbersOf(prices: PriceTier['prices'] | TokenPrices): Omit<DefaultPriceTier, 'from_tokens'> {
  const known = PRICED_KINDS.filter((kind) => (prices[kind] ?? null) !== null)
  return Object.fromEntries(known.map((kind) => [PRICE_FIELDS[kind], Number(prices[kind])]))
}

function namesOf(aliases: PriceAlias[]): DefaultTable['aliases'] {
  const byModel = Map.groupBy(aliases, ({ provider, model }) => JSON.stringify([provider, model]))
  return [...byModel.values()].map((named) => ({
    provider: named[0]!.provider!,
    model: named[0]!.model,
    names: named.map(({ alias }) => alias),
  }))
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
