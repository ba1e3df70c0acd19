/** Cells that several tables of the page have. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { pageOfList } from '../../parts/entries/filters.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { entriesAddress } from '../../parts/usage/dimensions.ts'
import { useSettings } from '../../server/me.ts'
import type { ReportQuery } from './queries.ts'

interface Listed {
  /** The path of the list in the API. */
  list: string
}

/** The number of entries, as a link to them. */
export function Entries({ entries, list }: Listed & { entries: number }) {
  const { time_zone } = useSettings()
  return (
    <FigureLink figure="entries" value={entries} to={pageOfList(list, time_zone)}>
      {count(entries)}
    </FigureLink>
  )
}

/** The number of all entries of a report, as a link to them. */
export const AllEntries = ({ entries, query }: { entries: number; query: ReportQuery }) => (
  <FigureLink figure="entries" value={entries} to={entriesAddress(query, query)}>
    {count(entries)}
  </FigureLink>
)

/** A model and its provider, as a link to their entries. */
export function ModelName({ model, provider, list }: Listed & { model: string; provider: string | null }) {
  const { time_zone } = useSettings()
  return (
    <Anchor component={Link} href={pageOfList(list, time_zone)} size="sm">
      <bdi>{model}</bdi>
      {provider !== null && (
        <>
          {' at '}
          <bdi>{provider}</bdi>
        </>
      )}
    </Anchor>
  )
}
