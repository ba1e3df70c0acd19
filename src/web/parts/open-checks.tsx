/** Checks of completeness, each with a link to its entries: what somebody can decide, and what else is to be known. */
import { Text } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import { count, counted } from '../format/counts.ts'
import { money } from '../format/money.ts'
import { answer, type api, apiUntil, type Body } from '../server/api.ts'
import { onBasis } from '../server/cost-basis.ts'
import { useRole, useSettings } from '../server/me.ts'
import { pageOfList } from './entries/filters.ts'
import { FigureLink, figure } from './figure-link.tsx'
import classes from './open-checks.module.css'
import { Caption } from './texts.tsx'

type CompletenessCall = typeof api.reports.completeness.get
export type OpenCheck = Body<Awaited<ReturnType<CompletenessCall>>>['data'][number]

export const completenessQuery = (query: NonNullable<Parameters<CompletenessCall>[0]>['query']) =>
  queryOptions({
    queryKey: ['reports', 'completeness', query],
    queryFn: async ({ signal }) => (await answer(apiUntil(signal).reports.completeness.get({ query }))).data,
    placeholderData: keepPreviousData,
  })

interface Gap {
  title: string
  description: string
  /** The page to fix it on, if not the list of its entries. */
  page?: string
  /** A filter whose place it takes, so that it is about other entries than those of the filter. */
  instead?: 'client' | 'project'
  /** Who can decide it here; others, and nobody if absent, only need to know. */
  for?: 'everybody' | 'books'
  /** In a sentence about one or many of its entries. */
  noted: readonly [one: string, many: string]
  /** Whether its entries, or their cost, are missing in the figures. */
  isMissing?: true
}

/** The checks that need action, in the order to work through them, and those that explain the others. */
export const GAPS: Partial<Record<OpenCheck['check'], Gap>> = {
  unplaced: {
    title: 'Unattributed',
    description: 'not assigned to a project or ticket',
    page: '/unattributed',
    instead: 'project',
    for: 'everybody',
    noted: ['unattributed entry', 'unattributed entries'],
  },
  without_client: {
    title: 'No client',
    description: 'in projects without a client to bill',
    instead: 'client',
    for: 'books',
    noted: ['entry without a client', 'entries without a client'],
  },
  without_project: {
    title: 'No project',
    description: 'on tickets without a project',
    instead: 'project',
    for: 'books',
    noted: ['entry without a project', 'entries without a project'],
  },
  unpriced: {
    title: 'Unpriced',
    description: 'cost unknown: no price for the model',
    for: 'books',
    noted: ['unpriced entry', 'unpriced entries'],
    isMissing: true,
  },
  unfunded: {
    title: 'Unknown funding',
    description: 'no plan or funding rule says what pays: add one, so that marginal and allocated cost are known',
    for: 'books',
    noted: ['entry of unknown funding', 'entries of unknown funding'],
  },
  cost_mismatches: {
    title: 'Cost mismatch',
    description: 'reported cost more than 10 times the list value, or less than a tenth of it',
    for: 'books',
    noted: ['entry with a cost mismatch', 'entries with a cost mismatch'],
  },
  possible_duplicates: {
    title: 'Possible duplicates',
    description: 'identical to an earlier entry, or another person’s session has the same ID',
    for: 'books',
    noted: ['possible duplicate', 'possible duplicates'],
  },
  held: {
    title: 'Held entries',
    description: 'another person has reported the same session; not counted until released or discarded',
    for: 'books',
    noted: ['held entry', 'held entries'],
    isMissing: true,
  },
  unbilled: {
    title: 'Unbilled',
    description: 'can be billed, but not on a bill yet',
    for: 'books',
    noted: ['unbilled entry', 'unbilled entries'],
  },
  unapproved: {
    title: 'Not approved',
    description: 'submitted, but not approved or billed',
    noted: ['entry that is not approved', 'entries that are not approved'],
  },
  on_sheets: {
    title: 'On token sheets',
    description: 'not counted until their sheet is approved',
    noted: ['entry on a token sheet', 'entries on token sheets'],
    isMissing: true,
  },
  not_billable: {
    title: 'Not billable',
    description: 'on projects that are not billable; never billed',
    noted: ['entry that is not billable', 'entries that are not billable'],
  },
  reaching_in: {
    title: 'Carried over',
    description: 'counted in the earlier period, in which they started',
    noted: ['entry carried over, counted in the earlier period', 'entries carried over, counted in the earlier period'],
    isMissing: true,
  },
  reaching_out: {
    title: 'Continued later',
    description: 'counted in full here, though they ended after this period',
    noted: ['entry that continued later', 'entries that continued later'],
  },
}

/** The frame of the rows. */
const OpenChecks = ({ children }: { children: ReactNode }) => <ul className={classes.checks}>{children}</ul>

interface ChecksProps {
  /** Those that find entries. */
  checks: readonly OpenCheck[]
  /** The address of a page with the same period. */
  addressOf?: (page: string) => string
  /** Further rows, above the others. */
  children?: ReactNode
  /** Shown instead of rows, if there are none. */
  empty: ReactNode
}

/** What this person can decide, and below it what else is to be known of the figures. */
export function Checks({ checks, addressOf, children, empty }: ChecksProps) {
  const settings = useSettings()
  const isOfBooks = useRole('billing', 'admin')
  const known = checks.flatMap((check) => {
    const gap = GAPS[check.check]
    if (!gap) return []
    const href =
      (gap.page && addressOf?.(gap.page)) ?? onBasis(pageOfList(check.list, settings.time_zone), 'cost', settings)
    return [{ ...gap, ...check, href, isRow: gap.for === 'everybody' || (gap.for === 'books' && isOfBooks) }]
  })
  const rows = known.filter(({ isRow }) => isRow)
  const noted = known.filter(({ isRow }) => !isRow)
  return (
    <>
      {rows.length === 0 && !children && empty}
      <OpenChecks>
        {children}
        {rows.map(({ check, href, title, description, entries, cost }) => (
          <OpenRow
            key={check}
            href={href}
            title={title}
            description={description}
            figure={<span {...figure('entries', entries)}>{count(entries)}</span>}
            counted={counted(entries, 'entry', 'entries')}
            amount={cost !== null && <span {...figure('cost', cost)}>{money(cost)}</span>}
          />
        ))}
      </OpenChecks>
      <Noted
        lead={rows.some(({ isMissing }) => isMissing) ? 'Also missing: ' : 'Figures are complete except for '}
        of={noted.filter(({ isMissing }) => isMissing)}
      />
      <Noted lead="Figures include " of={noted.filter(({ isMissing }) => !isMissing)} />
    </>
  )
}

/** “Figures are complete except for 12 unpriced entries, 3 held entries.” */
const Noted = ({ lead, of }: { lead: string; of: readonly (OpenCheck & Gap & { href: string })[] }) =>
  of.length > 0 && (
    <Caption component="p" mt="xs" mb={0}>
      {lead}
      {of.map(({ check, href, entries, noted }, at) => (
        <Fragment key={check}>
          {at > 0 && (at === of.length - 1 ? ' and ' : ', ')}
          <FigureLink figure="entries" value={entries} to={href}>
            {counted(entries, ...noted)}
          </FigureLink>
        </Fragment>
      ))}
      .
    </Caption>
  )

interface OpenRowProps {
  href: string
  title: string
  description: string
  figure: ReactNode
  /** The number with its unit, for screen readers. */
  counted: string
  amount?: ReactNode
}

export const OpenRow = ({ href, title, description, figure: shown, counted, amount }: OpenRowProps) => (
  <li>
    <Link href={href} className={classes.lack}>
      <span>
        <Text span size="sm" fw={600}>
          {title}
        </Text>
        <Caption>{description}</Caption>
      </span>
      <span className={classes.lackFigures}>
        <Text span size="sm" fw={600} aria-label={counted}>
          {shown}
        </Text>
        <Caption>{amount}</Caption>
      </span>
      <IconChevronRight size={16} className={classes.lackArrow} aria-hidden />
    </Link>
  </li>
)
