/**
 * Generates `src/features/prices/default-prices.json`, the prices a new database starts with, from the pinned npm
 * package `@pydantic/genai-prices` (MIT): `bun scripts/price-table.ts`. A unit test checks that the committed file
 * matches. Run it after every update of the package.
 *
 * The package is parsed in the same way as `tally prices load` parses its data, so both give the same rows. The script
 * leaves out, and counts:
 * - prices that are valid only for some hours of the day (DeepSeek's peak hours): a session has one start but may run
 *   through both, so its value is the lower bound from the price without hours;
 * - models without a price for text tokens. The package has an empty price both for free models and for unknown prices,
 *   and unknown must never be treated as free;
 * - models that charge reasoning or citation tokens separately from output, since reported output includes them;
 * - prices for anything but text tokens: audio, images, pages, searches, requests.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Provider, updatePrices, waitForUpdate } from '@pydantic/genai-prices'
import type { DefaultPrice, DefaultPriceTier, DefaultTable } from '../src/features/prices/default-table.ts'
import type { ListedPrice, ReasonCode } from '../src/features/prices/formats/reader.ts'
import { readTable } from '../src/features/prices/formats/table-file.ts'
import type { PriceAlias } from '../src/features/prices/price-table.ts'
import { PRICE_FIELDS, PRICED_KINDS, type PriceTier, type TokenPrices } from '../src/features/prices/rates.ts'

/** The package does not contain its release date, only the registry does. Update both together. */
const PINNED = { version: '0.1.8', published: '2026-09-23' }

/** The package exports only its code; other files are located relative to it. */
const PACKAGE_FOLDER = join(fileURLToPath(import.meta.resolve('@pydantic/genai-prices')), '../..')

const PRICES_FOLDER = join(import.meta.dir, '../src/features/prices')
const TABLE_PATH = join(PRICES_FOLDER, 'default-prices.json')
const NOTICE_PATH = join(PRICES_FOLDER, 'default-prices.LICENSE')

interface LeftOut {
  hoursOfDay: number
  noTextPrice: number
  outputInParts: number
}

/** Everything that the script writes, as text, and the counts of what it left out. */
export async function generatePriceTable(): Promise<{ table: string; notice: string; leftOut: LeftOut }> {
  const { version } = await Bun.file(join(PACKAGE_FOLDER, 'package.json')).json()
  if (version !== PINNED.version) {
    throw new Error(
      `The installed package is version ${version}. Set PINNED to that version and its date of publication.`,
    )
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
  // Any other issue with a row is a change in the package that needs a decision.
  if (refused.length > leftOut.noTextPrice + leftOut.outputInParts) throw new Error(JSON.stringify(refused))
  return { table: tableText(rows.map(priceOf), namesOf(aliases)), notice: await noticeText(), leftOut }
}

/** The data embedded in the package, which it returns if no update has been loaded. */
async function packagedProviders(): Promise<Provider[]> {
  updatePrices(() => undefined)
  const providers = await waitForUpdate()
  if (!providers) throw new Error('The package returned no prices.')
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

/** The known prices as numbers; none exceeds 10^9. */
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

/** One row per line, so that updates of the package have readable diffs. */
function tableText(rows: DefaultPrice[], aliases: DefaultTable['aliases']): string {
  const lines = (items: unknown[]) => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')
  const body = `  "prices": [\n${lines(rows)}\n  ],\n  "aliases": [\n${lines(aliases)}\n  ]`
  // The digest changes the version when a change to this script changes the rows.
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
