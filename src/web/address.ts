/**
 * Page state in the URL, so that it can be bookmarked and shared, and the browser's back button works.
 *
 *     const [{ model, page }, show] = useAddress({ model: many, page: one })
 *     show({ model: ['claude-opus-4-8'] })
 */
import { useCallback, useMemo } from 'react'
import { useLocation } from 'wouter'
// Not that of `wouter`, which decodes the query string once more: `a%2Fb` would become `a/b`.
import { useSearch } from 'wouter/use-browser-location'

/** Reads the values of one parameter; `undefined` if it is not in the URL. */
type Reader<Value> = (values: string[]) => Value

export const one: Reader<string | undefined> = (values) => values[0]
export const many: Reader<string[]> = (values) => values
export const flag: Reader<boolean> = (values) => values[0] === 'true'
/** One of the allowed values; the first if the URL has none of them. */
export const oneOf =
  <const Value extends string>(...allowed: [Value, ...Value[]]): Reader<Value> =>
  (values) =>
    allowed.find((value) => value === values[0]) ?? allowed[0]

type Readers = Record<string, Reader<Written>>
type ValuesOf<All extends Readers> = { [Name in keyof All]: ReturnType<All[Name]> }
type Shown<All extends Readers> = { [Name in keyof All]?: ReturnType<All[Name]> | undefined }

/** The values of the parameters in a query string. Empty ones, as in links that were edited, count as absent. */
export function readAddress<All extends Readers>(search: string, readers: All): ValuesOf<All> {
  const texts = new URLSearchParams(search)
  const entries = Object.entries(readers).map(([name, read]) => [
    name,
    read(texts.getAll(name).filter((text) => text !== '')),
  ])
  return Object.fromEntries(entries) as ValuesOf<All>
}

type Written = string | readonly string[] | boolean | undefined

/**
 * The URL of a page with changed parameters, where the others stay as they are in `search`. Undefined, empty and false
 * values are removed.
 */
export function changedAddress(path: string, search: string, changes: Record<string, Written>): string {
  const texts = new URLSearchParams(search)
  for (const [name, value] of Object.entries(changes)) {
    texts.delete(name)
    for (const item of typeof value === 'object' ? value : [value]) {
      if (item !== undefined && item !== '' && item !== false) texts.append(name, String(item))
    }
  }
  const query = texts.toString()
  return query === '' ? path : `${path}?${query}`
}

/** A URL within the application: `addressOf('/entries', { project: 'ACME', status: ['submitted'] })`. */
export const addressOf = (path: string, parameters: Record<string, Written>): string =>
  changedAddress(path, '', parameters)

/**
 * Returns the values in the URL and a function that changes some of them, as {@link changedAddress} does. Use `replace`
 * to not add a history entry, as while typing.
 */
export function useAddress<All extends Readers>(
  readers: All,
): [ValuesOf<All>, (changes: Shown<All>, how?: { replace?: boolean }) => void] {
  const search = useSearch()
  const [path, navigate] = useLocation()
  // Readers are written where they are used and never change.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const values = useMemo(() => readAddress(search, readers), [search])
  const show = useCallback(
    (changes: Shown<All>, { replace = false } = {}) =>
      navigate(changedAddress(path, location.search, changes), { replace }),
    [path, navigate],
  )
  return [values, show]
}
