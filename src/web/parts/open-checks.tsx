/** Checks of completeness that somebody should look at, each with a link to its entries. */
import { Text } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { count, counted } from '../format/counts.ts'
import { money } from '../format/money.ts'
import { answer, type api, apiUntil, type Body } from '../server/api.ts'
import { useSettings } from '../server/me.ts'
import { pageOfList } from './entries/filters.ts'
import { figure } from './figure-link.tsx'
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

interface Lack {
  title: string
  description: string
  /** The page to fix it on, if not the list of its entries. */
  page?: string
  /** A filter whose place it takes, so that it is about other entries than those of the filter. */
  instead?: 'client' | 'project'
  /** Whether there is nothing to do about it. */
  isNote?: true
}

/** The checks that need action, in the order to work through them, and those that explain the others. */
export const GAPS: Partial<Record<OpenCheck['check'], Lack>> = {
  unplaced: {
    title: 'Unattributed',
    description: 'not assigned to a project or ticket',
    page: '/unattributed',
    instead: 'project',
  },
  without_client: { title: 'No client', description: 'in projects without a client to bill', instead: 'client' },
  without_project: { title: 'No project', description: 'on tickets without a project', instead: 'project' },
  unpriced: { title: 'Unpriced', description: 'cost unknown: no price for the model' },
  cost_mismatches: {
    title: 'Cost mismatch',
    description: 'reported cost more than 10 times the list value, or less than a tenth of it',
  },
  possible_duplicates: {
    title: 'Possible duplicates',
    description: 'identical to an earlier entry, or another person’s session has the same ID',
  },
  held: {
    title: 'Held entries',
    description: 'another person has reported the same session; not counted until released or discarded',
  },
  unapproved: { title: 'Waiting for approval', description: 'submitted, but not approved or billed' },
  on_sheets: { title: 'On token sheets', description: 'not counted until their sheet is approved' },
  unbilled: { title: 'Unbilled', description: 'can be billed, but not on a bill yet' },
  not_billable: { title: 'Not billable', description: 'on projects that are not billable; never billed', isNote: true },
  reaching_in: { title: 'Carried over', description: 'counted in the earlier period, in which they started' },
  reaching_out: { title: 'Continued later', description: 'counted in full here, though they ended after this period' },
}

/** The frame of the rows. */
export const OpenChecks = ({ children }: { children: ReactNode }) => <ul className={classes.checks}>{children}</ul>

interface CheckRowProps {
  check: OpenCheck
  /** The page to fix it on; by default, the list of its entries. */
  href?: string | undefined
  /** Below it, such as the part of it that the person can do. */
  more?: ReactNode
}

export function CheckRow({ check, href, more }: CheckRowProps) {
  const { title, description } = GAPS[check.check]!
  const { approval_required, time_zone } = useSettings()
  const isFree = check.check === 'unapproved' && !approval_required
  return (
    <OpenRow
      href={href ?? pageOfList(check.list, time_zone)}
      title={isFree ? 'Not approved' : title}
      description={isFree ? 'bills do not require approval' : description}
      figure={<span {...figure('entries', check.entries)}>{count(check.entries)}</span>}
      counted={counted(check.entries, 'entry', 'entries')}
      amount={check.cost !== null && <span {...figure('cost', check.cost)}>{money(check.cost)}</span>}
      more={more}
    />
  )
}

interface OpenRowProps {
  href: string
  title: string
  description: string
  figure: ReactNode
  /** The number with its unit, for screen readers. */
  counted: string
  amount?: ReactNode
  more?: ReactNode
}

export const OpenRow = ({ href, title, description, figure: shown, counted, amount, more }: OpenRowProps) => (
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
    {more}
  </li>
)
