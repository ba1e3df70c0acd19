/** Prices in the API, in US dollars per million tokens. One source for validation and OpenAPI. */
import { type Static, Type } from '@sinclair/typebox'
import {
  amountIn,
  array,
  component,
  flag,
  integer,
  listOf,
  moment,
  money,
  type Names,
  named,
  number,
  object,
  oneOf,
  orNull,
  text,
} from '../../schema/types.ts'
import { PRICE_NOTES } from '../../shared/price-texts.ts'
import { SERVICE_FIELDS, SERVICE_NAME, TOOL_NAME } from '../../shared/usage.ts'
import { STEP_OUTCOMES } from './explain.ts'
import { ALWAYS } from './formats/tally.ts'
import { AS_OF_FROM } from './load-plan.ts'
import { TOKEN_FIELDS } from './records.ts'
import { KEPT_FIELDS } from './set-price.ts'
import { PRICE_SOURCES, TABLE_FORMATS } from './sources.ts'

const nameOf = (description: string, examples: string[], minLength = 1) =>
  text(description, {
    minLength,
    maxLength: 200,
    pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
    errorMessage: 'must be a string without control characters',
    examples,
  })

/** The prices of a row, and the substitutes for absent ones. */
const PRICES = {
  input: 'Input tokens that are not cached.',
  output: 'Output tokens, including reasoning.',
  cache_read: 'Tokens read from the cache. If absent, the input price applies and the entry is marked accordingly.',
  cache_write: 'Tokens written to the cache. If absent, the input price applies and the entry is marked accordingly.',
  cache_write_1h: 'Tokens written to the cache for one hour. If absent, the cache write price applies.',
}

const priceOf = (description: string) =>
  number(`${description} US dollars per million tokens, at most 6 decimals.`, { minimum: 0 })

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

const MEDIA = {
  input_audio: 'Tokens of audio in the input. If absent, the input price applies and the entry is marked accordingly.',
  input_image: 'Tokens of images in the input. If absent, the input price applies and the entry is marked accordingly.',
  output_audio:
    'Tokens of audio in the output. If absent, the output price applies and the entry is marked accordingly.',
  output_image:
    'Tokens of images in the output. If absent, the output price applies and the entry is marked accordingly.',
}

const givenMedia = {
  input_audio: Type.Optional(priceOf(MEDIA.input_audio)),
  input_image: Type.Optional(priceOf(MEDIA.input_image)),
  output_audio: Type.Optional(priceOf(MEDIA.output_audio)),
  output_image: Type.Optional(priceOf(MEDIA.output_image)),
}

const Tiers = array(
  'Prices of long requests, in ascending order. Prices that a tier leaves out are those of the tier below.',
  object({
    from_tokens: integer('Number of input tokens in one request, including cached ones, from which the tier applies.', {
      minimum: 1,
    }),
    ...given,
    ...givenMedia,
  }),
)

const adjustment = {
  multiplier: Type.Optional(
    number('Factor of all prices of tokens, with at most 6 decimals. Several multipliers stack.', {
      exclusiveMinimum: 0,
      maximum: 100,
    }),
  ),
  ...given,
  ...givenMedia,
  tiers: Type.Optional(Tiers),
}

const serviceName = (description: string, examples: string[]) =>
  Type.Optional(
    text(description, {
      pattern: SERVICE_NAME,
      errorMessage: 'must be a name of 1 to 40 characters of a-z 0-9 _ . -',
      examples,
    }),
  )

const Variants = array(
  'Prices of one service tier, speed or region each: a multiplier, or prices that replace those of the row. A price that a variant leaves out is the standard one, and entries note it.',
  object({
    service_tier: serviceName('The service tier that it applies to.', ['batch']),
    speed: serviceName('The speed that it applies to.', ['fast']),
    region: serviceName('The region that it applies to.', ['us']),
    ...adjustment,
  }),
  { maxItems: 32 },
)

const clock = (description: string) =>
  text(description, {
    pattern: '^([01]\\d|2[0-3]):[0-5]\\d$',
    errorMessage: 'must be a time of day in UTC, such as 16:30',
    examples: ['16:30'],
  })

const Hours = array(
  'Other prices at some hours of the day, like variants. An entry that is only partly in such hours has the usual prices, and notes it.',
  object({
    from: clock('Start, in UTC.'),
    to: clock('End, in UTC; the next day if it is earlier than the start.'),
    days: Type.Optional(
      array(
        'Days of the week (UTC) on which the hours begin, from 1 for Monday to 7. By default every day.',
        Type.Integer({ minimum: 1, maximum: 7 }),
        { minItems: 1, maxItems: 7 },
      ),
    ),
    ...adjustment,
  }),
  { maxItems: 24 },
)

export const TOOL_NAMES: Names = {
  one: 'tool',
  pattern: TOOL_NAME,
  form: '1 to 64 of the characters a-z 0-9 _ . -, the first of which is a letter or digit',
}

const Tools = named(
  TOOL_NAMES,
  32,
  number('US dollars per use, at most 12 decimals.', { minimum: 0, maximum: 1_000 }),
  { description: 'Prices per use of tools, by name.', examples: [{ web_search: 0.01 }] },
)

export const Author = orNull(
  object('The person who added it; null for the command line and for Tally itself.', {
    id: Type.String(),
    name: Type.String(),
  }),
)

const rowFields = {
  provider: text('Provider of the model; empty if the price applies to any provider.'),
  model: text('The model name, as written in the table.'),
  ...known,
  tiers: Tiers,
  input_audio: orNull(priceOf(MEDIA.input_audio)),
  input_image: orNull(priceOf(MEDIA.input_image)),
  output_audio: orNull(priceOf(MEDIA.output_audio)),
  output_image: orNull(priceOf(MEDIA.output_image)),
  tools: Tools,
  variants: Variants,
  hours: Hours,
  effective_from: orNull(moment('When the price takes effect; null if it was always in effect.')),
  effective_until: orNull(moment('When the price ends, exclusive; null if it has no end.')),
}

export const date = (description: string) => text(description, { examples: ['2026-11-20'] })

/** Where a price is from, and how recent it is. */
const AS_OF = {
  as_of: orNull(
    date('Date of the table that the price is from, or of the day when it was set by hand; null if unknown.'),
  ),
}

const ListedRow = object({ ...rowFields, source: oneOf(PRICE_SOURCES, 'Source of the price.'), ...AS_OF })

const Replacement = object({ before: ListedRow, after: ListedRow })

export const PriceBody = component(
  'Price',
  'A price of a model. Prices are only ever added. Null means unknown; 0 means free.',
  {
    id: Type.String({ examples: ['prc_01a1fa172a0277f3983322718874f2ef'] }),
    ...rowFields,
    source: oneOf(
      PRICE_SOURCES,
      'Source of the price: `default` is the table included with Tally, `admin` was set by hand, the others were loaded.',
    ),
    ...AS_OF,
    loaded_at: moment('When the price was added.'),
    loaded_by: Author,
    withdrawn_at: orNull(moment('When the load of the price was undone; null if the price applies.')),
  },
)
export type PriceBody = Static<typeof PriceBody>

export const ListedPriceBody = component('ListedPrice', {
  ...PriceBody.properties,
  in_use: flag('Whether entries of the last 90 days are valued at prices of the model.'),
})
export type ListedPriceBody = Static<typeof ListedPriceBody>

export const PriceList = listOf(ListedPriceBody, 'PriceList')

export const NewPrice = component(
  'NewPrice',
  'A price set by hand. Takes precedence over the prices of all tables. Prices, tiers and other charges that are not given are those of the price that the model has at that time.',
  {
    provider: Type.Optional(
      nameOf('Provider of the model. Without it, the price applies to any provider.', ['openai'], 0),
    ),
    model: nameOf('The exact name that entries report.', ['gpt-5']),
    ...given,
    tiers: Type.Optional(Tiers),
    ...givenMedia,
    tools: Type.Optional(Tools),
    variants: Type.Optional(Variants),
    hours: Type.Optional(Hours),
    effective_from: Type.Optional(
      text(
        `When the price takes effect: a date in the organization’s time zone, a timestamp with a UTC offset, or \`${ALWAYS}\`. By default today, or always for the first price of a model.`,
        { examples: ['2026-12-01', '2026-12-01T00:00:00+01:00', ALWAYS] },
      ),
    ),
    effective_until: Type.Optional(
      text(
        'When the price ends, exclusive: a date in the organization’s time zone or a timestamp with a UTC offset. By default it has no end. Afterwards the price applies that would apply without this one.',
        { examples: ['2027-01-01'] },
      ),
    ),
    only: Type.Optional(flag('If true, prices that are not given are unknown instead of being kept.')),
    force: Type.Optional(
      flag(
        'Accepts an implausible price: above $1,000 per million tokens, or cache writes above 4 times the input price.',
      ),
    ),
    dry_run: Type.Optional(flag('Return what would change without saving it.')),
  },
)
export type NewPrice = Static<typeof NewPrice>

const Change = (what: string) =>
  object(`Sum of the ${what} of these entries, in US dollars; unknown amounts count as 0.`, {
    before: Type.Number(),
    after: Type.Number(),
  })

export const RepricingBody = component('Repricing', 'Result of repricing entries.', {
  dry_run: flag('If true, nothing was written.'),
  entries: integer('Number of entries whose list value changed, or would change.'),
  list_value: Change('list values'),
  cost: Change('costs'),
  models: Type.Array(object({ model: Type.String(), entries: Type.Integer(), list_value: Change('list values') })),
  complete: flag(
    'Whether all entries were processed. If false, the request reached its time limit; repeat it to continue.',
  ),
  next_page: orNull(text('Pass it as `page` to continue. Null if a repeated request continues by itself.')),
})
export type RepricingBody = Static<typeof RepricingBody>

const Before = orNull({ ...ListedRow, description: 'The price that the model has at that time without this change.' })

export const AddedPrice = component('AddedPrice', {
  dry_run: flag('If true, nothing was written.'),
  added: flag('Whether the price was added, or would be; false if the same price is already set by hand.'),
  price: Type.Union([PriceBody, Type.Null()], { description: 'Null in a dry run.' }),
  before: Before,
  after: object('The price with everything that it keeps.', rowFields),
  kept: array('Fields that were not given and are those of `before`.', oneOf(KEPT_FIELDS, 'A field.'), {
    examples: [['cache_read', 'tiers']],
  }),
  valued: RepricingBody,
})
export type AddedPrice = Static<typeof AddedPrice>

export const PriceWithdrawal = component('PriceWithdrawal', {
  model: nameOf('The model, exactly as in its prices.', ['gpt-5']),
  provider: Type.Optional(
    nameOf('Provider of the prices. Without it, prices for any provider are withdrawn.', ['openai'], 0),
  ),
  effective_until: Type.Optional(
    text(
      'When the prices end, exclusive: a date in the organization’s time zone or a timestamp with a UTC offset. By default today. Prices that begin later never apply.',
      { examples: ['2027-01-01'] },
    ),
  ),
  dry_run: Type.Optional(flag('Return what would change without saving it.')),
})
export type PriceWithdrawal = Static<typeof PriceWithdrawal>

export const WithdrawnPrices = component('WithdrawnPrices', {
  dry_run: flag('If true, nothing was written.'),
  effective_until: moment('When the prices end.'),
  prices: array('The prices that end, most recently loaded first.', PriceBody),
  before: Before,
  after: orNull({
    ...ListedRow,
    description: 'The price that the model has from then on; null if new entries have none.',
  }),
})
export type WithdrawnPrices = Static<typeof WithdrawnPrices>

const Reasons = Type.Array(
  object({
    code: text('Machine-readable reason.', { examples: ['above_limit', 'no_input_price', 'free'] }),
    message: Type.String(),
  }),
)

const Counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description })

export const Difference = object({
  model: text('Name that entries report.'),
  provider: orNull(text('Provider that entries report.')),
  entries: integer('Entries of the last 30 days.'),
  at: moment('When the difference begins; now, or when a future price takes effect.'),
  before: orNull(ListedRow),
  after: orNull(ListedRow),
  change: orNull(
    number('Largest relative change of a single price, 0.05 for 5%. Null if one of both is missing, or was 0 before.'),
  ),
})

export const PriceTableBody = component(
  'LoadedPriceTable',
  'Result of loading a price table. `valued` covers previously unpriced entries that were valued with the new prices.',
  {
    dry_run: flag('If true, nothing was written.'),
    format: oneOf(TABLE_FORMATS, 'The requested or detected format.'),
    as_of: date('Date of the table.'),
    as_of_from: oneOf(
      AS_OF_FROM,
      'Origin of that date: `given` in the request, `contents` of the file, the newest date of its `models`, when it was last `modified`, or `today` if nothing else is known.',
    ),
    load: orNull(
      text('Id of the recorded load (pld_…); null in a dry run, or if nothing was added.', {
        examples: ['pld_01a1fa172a0277f3983322718874f2ef'],
      }),
    ),
    counts: object({
      new: integer('Rows for models that have no price, in any table or by any similar name.'),
      changed: integer('Rows that replace a different price: the one in force on their date, of whichever table.'),
      same_price: integer('Rows that are added with the price that is in force already, from another source.'),
      overridden: integer('Rows that are added but do not apply, because a custom price of the model does.'),
      older: integer(
        'Rows that are skipped because they are older than the different prices they would replace. `allow_older` loads them.',
      ),
      unchanged: integer('Rows that are already loaded.'),
      removed: integer(
        'Prices of an earlier table of the same source that this one does not contain. They stay in force.',
      ),
      refused: integer('Models that were rejected, with reasons.'),
      skipped: integer('Models that do not generate text.'),
      aliases: integer('Aliases that are new or changed.'),
      rounded: integer(
        'Prices that were rounded to whole pico-dollars per token because the excess digits were noise.',
      ),
    }),
    new: Type.Array(ListedRow),
    changed: Type.Array(Replacement),
    same_price: Type.Array(ListedRow),
    overridden: array('Added rows (`after`), and the custom prices that still apply.', Replacement),
    older: array('Skipped rows (`after`), and the newer prices that stay.', Replacement),
    removed: array('Prices in force that the table no longer contains. Loading never withdraws a price.', ListedRow),
    in_use: array('Models of entries of the last 30 days whose price changes, the most used first.', Difference),
    refused: Type.Array(object({ provider: Type.String(), model: Type.String(), reasons: Reasons })),
    skipped: Counts('Number of skipped models, by reason.'),
    unused: Counts('Number of prices of accepted models that Tally does not use, by the name of their column.'),
    rounded: Type.Array(
      object({
        provider: Type.String(),
        model: Type.String(),
        text: text('The price as written in the file.'),
        price: number('The rounded price, in US dollars per million tokens.'),
      }),
    ),
    valued: orNull(RepricingBody),
  },
)
export type PriceTableBody = Static<typeof PriceTableBody>

/** The notes of a value, for a description. */
export const NOTES_TEXT = `Separated by commas: ${Object.keys(PRICE_NOTES)
  .map((note) => `\`${note}\``)
  .join(', ')}.`

/** The calculation of a list value: the sum of the parts, times the multipliers, plus the sum of the tools. */
export const valueFields = {
  parts: array(
    'Only counts above 0.',
    object({
      kind: oneOf(Object.values(TOKEN_FIELDS), 'The token count that was priced.'),
      tokens: Type.Integer(),
      price: number('US dollars per million tokens.'),
      from_tokens: orNull(
        integer('Number of tokens from which the long-context price applies; null for the base price.'),
      ),
      amount: amountIn('usd', 'tokens × price, in US dollars, exact at 12 decimals.'),
    }),
  ),
  multipliers: array(
    'Factors of the sum of the parts.',
    object({
      kind: oneOf([...Object.values(SERVICE_FIELDS), 'hours'], 'Why the multiplier applies.'),
      name: text('The service tier, speed, region or hours.', { examples: ['fast'] }),
      multiplier: Type.Number(),
    }),
  ),
  tools: array(
    'Uses of tools with a price, which multipliers do not change.',
    object({
      name: Type.String({ examples: ['web_search'] }),
      uses: Type.Integer(),
      price: number('US dollars per use.'),
      amount: amountIn('usd', 'uses × price, in US dollars.'),
    }),
  ),
  list_value: money(
    'The sum of the parts, times the multipliers, plus the sum of the tools, rounded once, half to even.',
  ),
}

const SampleValue = object('Cost of the requested usage.', { ...valueFields, note: orNull(text(NOTES_TEXT)) })

export const ResolutionBody = component('PriceResolution', {
  model: Type.String(),
  provider: orNull(Type.String()),
  at: moment('The requested time.'),
  step: integer('The step that found the price; 8 means unpriced.', { minimum: 1, maximum: 8 }),
  price: orNull(PriceBody),
  sources: array(
    'Published tables with this price of input and output, if it is from the table included with Tally; empty otherwise.',
    object({
      source: Type.String({ examples: ['genai-prices'] }),
      version: text('Version of the package that the price was taken from.'),
      as_of: date('Day of the release of that version.'),
    }),
  ),
  steps: array(
    'All steps up to the one that found a price, and why earlier steps did not.',
    object({
      step: Type.Integer({ minimum: 1, maximum: 8 }),
      outcome: oneOf(
        STEP_OUTCOMES,
        '`not_yet` means that a price is listed but takes effect later, `ended` that it no longer applies.',
      ),
      detail: Type.String(),
    }),
  ),
  value: orNull({
    ...SampleValue,
    description:
      'Cost of one request with the token counts and tools in the query. Null without any, or without a price for them.',
  }),
})
export type ResolutionBody = Static<typeof ResolutionBody>

export const NewAlias = component('NewPriceAlias', {
  alias: nameOf('The exact name that entries report.', ['our-coder']),
  model: nameOf('The model whose price it has.', ['claude-sonnet-4-5']),
  provider: Type.Optional(
    nameOf('Provider of that model. Without it, the model is looked up as if an entry had reported it.', ['anthropic']),
  ),
})
export type NewAlias = Static<typeof NewAlias>

export const AliasBody = component('PriceAlias', 'Another name for a model.', {
  alias: Type.String(),
  provider: orNull(Type.String()),
  model: Type.String(),
  source: oneOf(PRICE_SOURCES, '`admin` if it was set by hand; otherwise the table it was loaded with.'),
  created_at: moment('When the alias was created.'),
  created_by: Author,
})
export type AliasBody = Static<typeof AliasBody>

export const AliasList = listOf(AliasBody, 'PriceAliasList')

export const AddedAlias = component('AddedPriceAlias', { resolution: ResolutionBody, valued: RepricingBody })
