import {
  Autocomplete,
  type AutocompleteProps,
  NativeSelect,
  type NativeSelectProps,
  Select,
  type SelectProps,
} from '@mantine/core'
import { LOCALES } from '../../shared/locales.ts'

/** The number of choices offered; typing narrows them. */
const OFFERED = 60

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

/** Free text, because browsers do not list zone aliases such as `US/Pacific`. */
export const TimeZoneInput = (props: AutocompleteProps) => (
  <Autocomplete data={ZONES} limit={OFFERED} autoComplete="off" spellCheck={false} {...props} />
)

const localeNames = new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' })

/** `German (Switzerland)` for `de-CH`. */
export const localeName = (locale: string): string => localeNames.of(locale) ?? locale

/** Offers the usual locales, after what holds without one, and one that was chosen elsewhere. */
export function LocaleSelect({ without, value, ...props }: NativeSelectProps & { without: string; value?: string }) {
  const offered = [...new Set<string>([...LOCALES, ...(value ? [value] : [])])]
  return (
    <NativeSelect
      label="Numbers and dates"
      data={[{ value: '', label: without }, ...offered.map((tag) => ({ value: tag, label: localeName(tag) }))]}
      value={value}
      {...props}
    />
  )
}

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
