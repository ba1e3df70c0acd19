import { Box } from '@mantine/core'
import type { ReactNode } from 'react'
import { SearchField } from '../../parts/search-field.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'

export const ARCHIVED = ['false', 'true', 'all'] as const
export type Archived = (typeof ARCHIVED)[number]

interface ListHeadProps {
  what: string
  search: string | undefined
  archived: Archived
  show: (changes: { search?: string | undefined; archived?: Archived | undefined }, how?: { replace?: boolean }) => void
  filters?: ReactNode
  actions?: ReactNode
}

/** The toolbar above each list of work: search, archive filter and actions. */
export const ListHead = ({ what, search, archived, show, filters, actions }: ListHeadProps) => (
  <Box mb="md">
    <Toolbar actions={actions}>
      <SearchField
        label={`Search ${what}`}
        value={search}
        change={(text) => show({ search: text }, { replace: true })}
      />
      {filters}
      <Segmented
        size="xs"
        aria-label="Archive status"
        value={archived}
        choose={(value) => show({ archived: value === 'false' ? undefined : value })}
        titles={{ false: 'Active', true: 'Archived', all: 'All' }}
      />
    </Toolbar>
  </Box>
)
