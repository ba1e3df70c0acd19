import { Autocomplete, type AutocompleteProps, Select, type SelectProps } from '@mantine/core'

/** As long as a list can be looked over; typing narrows it. */
const OFFERED = 60

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Free text, because aliases such as `US/Pacific` are zones too, and in no browser's list. */
export const TimeZoneInput = (props: AutocompleteProps) => (
  <Autocomplete data={ZONES} limit={OFFERED} autoComplete="off" spellCheck={false} maxLength={100} {...props} />
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
    nothingFoundMessage="No currency of that name or code"
    allowDeselect={false}
    {...props}
  />
)
