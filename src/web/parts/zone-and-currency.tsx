import { Autocomplete, type AutocompleteProps, Select, type SelectProps } from '@mantine/core'

/** The number of choices offered; typing narrows them. */
const OFFERED = 60

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Free text, because browsers do not list zone aliases such as `US/Pacific`. */
export const TimeZoneInput = (props: AutocompleteProps) => (
  <Autocomplete data={ZONES} limit={OFFERED} autoComplete="off" spellCheck={false} {...props} />
)

const names = new Intl.DisplayNames('en', { type: 'currency' })
const CURRENCIES = Intl.supportedValuesOf('currency').map((code) => ({
  value: code,
  label: `${code} · ${names.of(code)}`,
}))

export const CurrencySelect = (props: Omit<SelectProps, 'data'>) => (
  <Select
    data={CURRENCIES}
    searchable
    limit={OFFERED}
    autoComplete="off"
    nothingFoundMessage="No matching currency"
    allowDeselect={false}
    {...props}
  />
)
