/** Prices on the wire, in US dollars per million tokens. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import { listOf, moment, oneOf, orNull, strict } from '../../wire.ts'
import { TABLE_FORMATS } from './formats/table-file.ts'
import { ALWAYS } from './formats/tally.ts'
import { PRICE_FIELDS } from './rate.ts'
import { PRICE_SOURCES } from './resolve.ts'

const nameOf = (description: string, examples: string[], minLength = 1) =>
  Type.String({
    description,
    minLength,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    errorMessage: 'must be a text without control characters',
    examples,
  })

/** What the prices of a row are called, and what an absent one means. */
const PRICES = {
  input: 'Input tokens that are not cached.',
  output: 'Output tokens, reasoning included.',
  cache_read: 'Tokens read from the cache; without it the input price is used, and the entry says so.',
  cache_write: 'Tokens written to the cache; without it the input price is used, and the entry says so.',
  cache_write_1h: 'Tokens written to the cache for one hour; without it the price of writing to the cache is used.',
}

const priceOf = (description: string) =>
  Type.Number({ description: `${description} US dollars per million tokens, at most 6 decimals.`, minimum: 0 })

const known = {
  input: orNull(priceOf(PRICES.input)),
  output: orNull(priceOf(PRICES.output)),
  cache_read: orNull(priceOf(PRICES.cache_read)),
  cache_write: orNull(priceOf(PRICES.cache_write)),
  cache_write_1h: orNull(priceOf(PRICES.cache_write_1h)),
}

const given = {
  input: Type.Optional(priceOf(PRICES.input)),
  output: Type.Optional(priceOf(PRICES.output)),
  cache_read: Type.Optional(priceOf(PRICES.cache_read)),
  cache_write: Type.Optional(priceOf(PRICES.cache_write)),
  cache_write_1h: Type.Optional(priceOf(PRICES.cache_write_1h)),
}

const Tiers = Type.Array(
  Type.Object(
    {
      from_tokens: Type.Integer({
        description: 'Tokens of input, cached ones included, from which on one request costs so.',
        minimum: 1,
      }),
      ...given,
    },
    strict,
  ),
  { description: 'Prices of long requests, ascending. What a tier does not name costs as below it.' },
)

const Author = orNull(
  Type.Object(
    { id: Type.String(), name: Type.String() },
    { ...strict, description: 'Who did it; null where the command line or Tally itself did.' },
  ),
)

const rowFields = {
  provider: Type.String({ description: 'Who sells the model; empty where the price holds for any provider.' }),
  model: Type.String({ description: 'The name as the table writes it.' }),
  ...known,
  tiers: Tiers,
  effective_from: orNull(moment('The first moment it holds; null where it always held.')),
}

const ListedRow = Type.Object(rowFields, strict)

export const PriceBody = Type.Object(
  {
    id: Type.String({ examples: ['prc_01a1fa172a0277f3983322718874f2ef'] }),
    ...rowFields,
    source: oneOf(
      PRICE_SOURCES,
      'Where it came from: `default` is the table that Tally carries, `admin` was set by hand, the others were loaded.',
    ),
    loaded_at: moment('When it was added.'),
    loaded_by: Author,
  },
  {
    ...strict,
    $id: 'Price',
    description: 'A price of a model. Rows are only ever added. An unknown price is null, 0 is free.',
  },
)
export type PriceBody = Static<typeof PriceBody>

export const PriceList = listOf(PriceBody, 'PriceList')

export const NewPrice = Type.Object(
  {
    provider: Type.Optional(nameOf('Who sells the model. Without it the price holds for any provider.', ['openai'], 0)),
    model: nameOf('The name that entries report, exactly.', ['gpt-5']),
    input: priceOf(PRICES.input),
    output: priceOf(PRICES.output),
    cache_read: given.cache_read,
    cache_write: given.cache_write,
    cache_write_1h: given.cache_write_1h,
    tiers: Type.Optional(Tiers),
    effective_from: Type.Optional(
      Type.String({
        description: `The first moment it holds: a date, a timestamp with its offset, or \`${ALWAYS}\`. Without it a price holds from today, and for a name without a price so far from always.`,
        examples: ['2026-12-01', '2026-12-01T00:00:00+01:00', ALWAYS],
      }),
    ),
  },
  { ...strict, $id: 'NewPrice', description: 'A price set by hand; it comes before those of every table.' },
)
export type NewPrice = Static<typeof NewPrice>

const Change = (what: string) =>
  Type.Object(
    { before: Type.Number(), after: Type.Number() },
    {
      ...strict,
      description: `Sum of the ${what} of those entries, in US dollars; what was unknown counts as nothing.`,
    },
  )

export const RepricingBody = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'Nothing was written.' }),
    entries: Type.Integer({ description: 'Entries whose value changed, or would change.' }),
    list_value: Change('list values'),
    cost: Change('costs'),
    models: Type.Array(
      Type.Object({ model: Type.String(), entries: Type.Integer(), list_value: Change('list values') }, strict),
    ),
    complete: Type.Boolean({
      description: 'Every entry was looked at. Where it is false, the time of a call was over: call again to go on.',
    }),
    next_page: orNull(
      Type.String({ description: 'Where to go on; send it as `page`. Null where a call goes on by itself.' }),
    ),
  },
  { ...strict, $id: 'Repricing', description: 'Entries that were valued again.' },
)
export type RepricingBody = Static<typeof RepricingBody>

export const AddedPrice = Type.Object(
  {
    added: Type.Boolean({ description: 'False where a price of yours says so already.' }),
    price: PriceBody,
    valued: RepricingBody,
  },
  { ...strict, $id: 'AddedPrice' },
)

const Reasons = Type.Array(
  Type.Object(
    {
      code: Type.String({ description: 'The kind of issue.', examples: ['above_limit', 'no_input_price', 'free'] }),
      message: Type.String(),
    },
    strict,
  ),
)

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })

export const PriceTableBody = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'Nothing was written.' }),
    format: oneOf(TABLE_FORMATS, 'As it was named, or told by the shape of the file.'),
    counts: Type.Object(
      {
        new: Type.Integer({ description: 'Rows where this table had no price before.' }),
        changed: Type.Integer({ description: 'Rows where it had another price.' }),
        unchanged: Type.Integer({ description: 'Rows that say what is loaded already.' }),
        refused: Type.Integer({ description: 'Models that were not taken, each with its reasons.' }),
        skipped: Type.Integer({ description: 'Models that do not generate text.' }),
        aliases: Type.Integer({ description: 'Other names of models, new or moved.' }),
        rounded: Type.Integer({ description: 'Prices whose digits below a pico-dollar a token were noise.' }),
      },
      strict,
    ),
    new: Type.Array(ListedRow),
    changed: Type.Array(Type.Object({ before: ListedRow, after: ListedRow }, strict)),
    refused: Type.Array(Type.Object({ provider: Type.String(), model: Type.String(), reasons: Reasons }, strict)),
    skipped: Counts('Models passed over, by why.'),
    unused: Counts('Prices of the models taken that Tally does not use, by kind.'),
    rounded: Type.Array(
      Type.Object(
        {
          provider: Type.String(),
          model: Type.String(),
          text: Type.String({ description: 'As the file writes it.' }),
          price: Type.Number({ description: 'As it was taken, in US dollars per million tokens.' }),
        },
        strict,
      ),
    ),
    valued: orNull(RepricingBody),
  },
  {
    ...strict,
    $id: 'LoadedPriceTable',
    description: 'What a file of prices added. `valued`: the entries without a price that were valued thereupon.',
  },
)
export type PriceTableBody = Static<typeof PriceTableBody>

const SampleValue = Type.Object(
  {
    parts: Type.Array(
      Type.Object(
        {
          kind: oneOf(Object.values(PRICE_FIELDS), 'Which of the five counts.'),
          tokens: Type.Integer(),
          price: Type.Number({ description: 'US dollars per million tokens.' }),
          from_tokens: orNull(
            Type.Integer({ description: 'Where the long-context price begins; null for the base price.' }),
          ),
          amount: Type.Number({ description: 'tokens × price, in US dollars, exact at 12 decimals.' }),
        },
        strict,
      ),
      { description: 'Only of what was used.' },
    ),
    note: orNull(Type.String({ description: '`cache_price_assumed`, `tier_uncertain`, or both with a comma.' })),
    list_value: Type.Number({ description: 'The sum of the parts, rounded once, half to even, in US dollars.' }),
  },
  { ...strict, description: 'What the counts that were asked about are worth.' },
)

export const ResolutionBody = Type.Object(
  {
    model: Type.String(),
    provider: orNull(Type.String()),
    at: moment('The moment asked for.'),
    step: Type.Integer({ description: 'The step that found the price; 8 is unpriced.', minimum: 1, maximum: 8 }),
    price: orNull(PriceBody),
    steps: Type.Array(
      Type.Object(
        {
          step: Type.Integer({ minimum: 1, maximum: 8 }),
          outcome: oneOf(
            ['found', 'not_listed', 'not_yet', 'does_not_apply'],
            '`not_yet` is listed, but holds only later.',
          ),
          detail: Type.String(),
        },
        strict,
      ),
      { description: 'Every step until one found a price, and why the steps before did not.' },
    ),
    value: orNull({
      ...SampleValue,
      description:
        'What the counts in the query are worth as one request. Null where there are none, or no price for them.',
    }),
  },
  { ...strict, $id: 'PriceResolution' },
)
export type ResolutionBody = Static<typeof ResolutionBody>

export const NewAlias = Type.Object(
  {
    alias: nameOf('The name that entries report, exactly.', ['our-coder']),
    model: nameOf('The model whose price it has.', ['claude-sonnet-4-5']),
    provider: Type.Optional(
      nameOf('Whose price; without it the model is looked up as if it were named.', ['anthropic']),
    ),
  },
  { ...strict, $id: 'NewPriceAlias' },
)
export type NewAlias = Static<typeof NewAlias>

export const AliasBody = Type.Object(
  {
    alias: Type.String(),
    provider: orNull(Type.String()),
    model: Type.String(),
    source: oneOf(PRICE_SOURCES, '`admin` where a person made it; else the table that it came with.'),
    created_at: moment('When it was made.'),
    created_by: Author,
  },
  { ...strict, $id: 'PriceAlias', description: 'Another name of a model.' },
)
export type AliasBody = Static<typeof AliasBody>

export const AliasList = listOf(AliasBody, 'PriceAliasList')

export const AddedAlias = Type.Object(
  { resolution: ResolutionBody, valued: RepricingBody },
  { ...strict, $id: 'AddedPriceAlias' },
)
