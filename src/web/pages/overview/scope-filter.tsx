/** Limits the overview to clients or projects. */
import { useState } from 'react'
import { fieldOf } from '../../parts/entries/fields.ts'
import { AddFilter } from '../../parts/entries/filter-bar.tsx'
import { FilterChip } from '../../parts/entries/filter-chip.tsx'
import { SCOPE_FILTERS, type ScopeFilter } from './scope.ts'

const FIELDS = SCOPE_FILTERS.map((name) => ({ name, field: fieldOf(name)! }))

interface ScopeFilterBarProps {
  filter: ScopeFilter
  change: (filter: Partial<ScopeFilter>) => void
}

export function ScopeFilterBar({ filter, change }: ScopeFilterBarProps) {
  const [open, setOpen] = useState<string>()
  const shown = FIELDS.filter(({ name }) => filter[name].length > 0 || name === open)
  const offered = FIELDS.filter((each) => !shown.includes(each)).map(({ field }) => field)
  return (
    <>
      {shown.map(({ name, field }) => (
        <FilterChip
          key={name}
          field={field}
          values={filter[name]}
          change={(values) => change({ [name]: values })}
          isOpen={open === name}
          setOpen={(isOpen) => setOpen(isOpen ? name : undefined)}
        />
      ))}
      {offered.length > 0 && <AddFilter offered={offered} add={({ name }) => setOpen(name)} />}
    </>
  )
}
