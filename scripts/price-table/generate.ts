/**
 * Generates `src/features/prices/default-prices.json`, the prices a new database starts with, from the sources that
 * `fetch.ts` stored: `bun scripts/price-table/generate.ts`. It also writes the licenses of the sources, and
 * `sources/review.tsv`: where sources disagree, and why which of them was followed. A unit test checks that all three
 * files are what the script makes.
 *
 * To update the prices: set the versions in `packages.ts`, run `fetch.ts` and then this, and read what changed in
 * `sources/review.tsv`. What no rule decides rightly belongs in `decisions.ts`. `popular.ts --write` shows what 120 popular
 * names cost, beside each source. Commit the sources and the results.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { DefaultPrice, DefaultTable } from '../../src/features/prices/default-table.ts'
import { makersProviders } from '../../src/features/prices/makers.ts'
import { reasonsAgainst } from '../../src/features/prices/plausibility.ts'
import { COUNT_KINDS, PRICE_FIELDS } from '../../src/features/prices/rates.ts'
import { extrasRecord, tierRecord } from '../../src/features/prices/records.ts'
import { type Claim, type DatedPrice, readSources, type Sources } from './claims.ts'
import { DECISIONS, type Decision } from './decisions.ts'
import { type Verdict, verdictOf } from './merge.ts'
import { newestRelease, noticePath, PACKAGES, SOURCE_NAMES } from './packages.ts'
import { modelsOf, type PricedModel } from './rows.ts'
import { withSpellings } from './spellings.ts'

const PRICES_FOLDER = join(import.meta.dir, '../../src/features/prices')

/** The files that the script writes, by path. */
export const GENERATED = {
  table: join(PRICES_FOLDER, 'default-prices.json'),
  notice: join(PRICES_FOLDER, 'default-prices.LICENSE'),
  review: join(import.meta.dir, 'sources/review.tsv'),
}

export interface NamedVerdict extends Verdict {
  provider: string
  name: string
  claims: Claim[]
}

/** The texts of the files, what each name was decided to cost, and what was left out, by reason. */
export async function generatePriceTable(
  decisions = DECISIONS,
): Promise<Record<keyof typeof GENERATED, string> & { verdicts: NamedVerdict[]; leftOut: Record<string, number> }> {
  const sources = await readSources()
  const verdicts = verdictsOf(sources, decisions)
  return {
    table: tableText(pricedModels(verdicts, sources)),
    notice: await noticeText(),
    review: reviewText(verdicts),
    verdicts,
    leftOut: sources.leftOut,
  }
}

function verdictsOf({ claims, leftOut }: Sources, decisions: Decision[]): NamedVerdict[] {
  const verdicts: NamedVerdict[] = []
  for (const [provider, names] of [...claims].sort(([one], [other]) => (one < other ? -1 : 1))) {
    for (const [name, listed] of [...names].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const decision = decisions.find((one) => one.provider === provider && one.names.test(name))
      const verdict = verdictOf(listed, {
        isMaker: isMaker(provider, name),
        preferred: decision?.prefer,
      })
      const prices = decision?.change?.(verdict.prices) ?? verdict.prices
      const reason = prices.flatMap((price) =>
        reasonsAgainst({ provider, model: name, ...price }, { allowFree: true }),
      )[0]
      if (reason) leftOut[`merged: ${reason.code}`] = (leftOut[`merged: ${reason.code}`] ?? 0) + 1
      else verdicts.push({ ...verdict, prices, provider, name, claims: listed })
    }
  }
  return verdicts
}

/** Whether the provider makes the model; Bedrock's names tell the maker, but Amazon resells most of them. */
function isMaker(provider: string, name: string): boolean {
  return makersProviders(name).includes(provider) && (provider !== 'aws' || /(?:^|\.)amazon\./.test(name))
}

type Model = PricedModel & { provider: string }

function pricedModels(verdicts: NamedVerdict[], sources: Sources): Model[] {
  return [...Map.groupBy(verdicts, ({ provider }) => provider)].flatMap(([provider, named]) =>
    withSpellings(
      provider,
      modelsOf(named, (name) => sources.modelOf(provider, name)),
    ).map((model) => ({ ...model, provider })),
  )
}

/** One row per line, so that updates have readable diffs. */
function tableText(models: Model[]): string {
  const lines = (items: unknown[]) => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')
  const aliased = models.filter(({ aliases }) => aliases.length > 0)
  const rows = models.flatMap((model) => model.prices.map((price) => rowOf(model, price)))
  const names = aliased.map(({ provider, name, aliases }) => ({ provider, model: name, names: aliases }))
  const body = `  "prices": [\n${lines(rows)}\n  ],\n  "aliases": [\n${lines(names)}\n  ]`
  const head = {
    // The digest changes the version when a change to this script changes the rows.
    version: `${versionOf(newestRelease())}+${createHash('sha256').update(body).digest('hex').slice(0, 8)}`,
    unit: 'pico-dollars (1e-12 USD) per token',
    sources: PACKAGES.map(({ source, name, version, published }) => ({
      source,
      package: name,
      version,
      as_of: published,
    })),
  } satisfies Partial<DefaultTable>
  const headLines = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${headLines.join(',\n')},\n${body}\n}\n`
}

/** A date as a version that can be compared: `2026-07-02` is `2026.7.2`. */
function versionOf(date: string): string {
  return date.replaceAll(/-0?/g, '.')
}

function rowOf({ provider, name, from }: Model, { tiers, extras, effectiveFrom, ...prices }: DatedPrice): DefaultPrice {
  return {
    provider,
    model: name,
    ...Object.fromEntries(
      COUNT_KINDS.flatMap((kind) => (prices[kind] === null ? [] : [[PRICE_FIELDS[kind], Number(prices[kind])]])),
    ),
    ...(tiers.length > 0 ? { tiers: tiers.map(tierRecord) } : {}),
    ...(extras ? { extras: extrasRecord(extras) } : {}),
    ...(effectiveFrom === null ? {} : { effective_from: new Date(effectiveFrom).toISOString().slice(0, 10) }),
    from: from.map((source) => SOURCE_NAMES.indexOf(source)).sort(),
  }
}

async function noticeText(): Promise<string> {
  const notices = PACKAGES.map(async ({ source, name, version, homepage }) => {
    const license = await Bun.file(noticePath(source)).text()
    return `${homepage}, as in the Python package ${name} ${version}:\n\n${license.trimEnd()}\n`
  })
  const head = 'default-prices.json is made from the following, each of which is under the license after it.\n'
  return [head, ...(await Promise.all(notices))].join('\n')
}

const REVIEW_HEAD = ['provider', 'name', 'field', 'decided', 'rule', 'followed', 'others']

/** A line per disagreement, in dollars per million tokens. */
function reviewText(verdicts: NamedVerdict[]): string {
  const lines = verdicts.flatMap(({ provider, name, rule, from, disagreements }) =>
    disagreements.map(({ field, decided, others }) =>
      [
        provider,
        name,
        field,
        decided,
        rule,
        from.join(' '),
        others.map(([source, price]) => `${source} ${price}`).join('; '),
      ].join('\t'),
    ),
  )
  return `${[REVIEW_HEAD.join('\t'), ...lines].join('\n')}\n`
}

if (import.meta.main) {
  const { verdicts, leftOut, ...texts } = await generatePriceTable()
  for (const name of ['table', 'notice', 'review'] as const) await Bun.write(GENERATED[name], texts[name])
  const { version, prices, aliases } = JSON.parse(texts.table) as DefaultTable
  const names = aliases.reduce((sum, alias) => sum + alias.names.length, 0)
  console.log(`${version}: ${prices.length} prices, ${names} other names, ${(texts.table.length / 1e3).toFixed(0)} kB.`)
  console.log(
    'Decided by:',
    Object.fromEntries([...Map.groupBy(verdicts, ({ rule }) => rule)].map(([rule, all]) => [rule, all.length])),
  )
  console.log('Left out:', leftOut)
}
