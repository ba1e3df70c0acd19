/** A calendar of the last year: each day colored by its cost or tokens, and a link to its entries. */
import { Button, Group, Paper } from '@mantine/core'
import { IconTable } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, type KeyboardEvent, type MouseEvent, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { ONLY_COLOR } from '../../../shared/charts/colors.ts'
import { dayInWords, dayOf } from '../../format/moments.ts'
import { ChartTable } from '../../parts/charts/chart-table.tsx'
import { AMOUNTS, inWords } from '../../parts/charts/series.ts'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { Caption, CardTitle, Note } from '../../parts/texts.tsx'
import { measureOf } from '../../parts/usage/measures.ts'
import type { Usage } from '../../parts/usage/usage.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import type { Measure } from './groups.ts'
import classes from './heatmap.module.css'
import { type HeatmapDay, heatmapOf, movedTo, yearUntil } from './heatmap-layout.ts'
import { addressIn, during, type Scope } from './scope.ts'
import { trendQuery } from './usage.ts'

interface CalendarProps {
  scope: Scope
  measure: Measure
}

const FORMATS = { cost: AMOUNTS.money, tokens: AMOUNTS.count } as const

export function Heatmap({ scope, measure }: CalendarProps) {
  const { time_zone } = useSettings()
  const year = during(scope, yearUntil(dayOf(new Date(), time_zone)))
  const { data, error, refetch, isPlaceholderData } = useQuery(trendQuery(year, '1d'))
  const [isTable, setTable] = useState(false)
  const days = data && daysOf(data, measure, time_zone)
  const named = measureOf(measure, scope.basis).title
  const title = `${named} by day in the last year`
  const points = days?.map(({ day }) => ({ key: day, short: day, title: dayInWords(day) }))
  return (
    <Paper withBorder p="md" opacity={isPlaceholderData ? 0.55 : 1}>
      <Group justify="space-between" gap="xs" mb="sm">
        <CardTitle>{title}</CardTitle>
        {data && <YearTotal totals={data.totals} measure={measure} year={year} />}
      </Group>
      {error && !data && <Failure error={error} retry={refetch} />}
      {days && <Days days={days} label={title} scope={scope} measure={measure} />}
      <Group justify="space-between" gap="xs" mt="xs">
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          leftSection={<IconTable size={14} />}
          onClick={() => setTable(!isTable)}
          aria-expanded={isTable}
        >
          {isTable ? 'Hide table of days' : 'Show days as table'}
        </Button>
        <Scale />
      </Group>
      {isTable && days && points && (
        <ChartTable
          points={points}
          series={[
            {
              key: measure,
              label: named,
              values: days.map(({ value }) => value),
              color: ONLY_COLOR,
            },
          ]}
          format={FORMATS[measure]}
          heading="Day"
        />
      )}
    </Paper>
  )
}

const daysOf = ({ data }: Usage, measure: Measure, timeZone: string): HeatmapDay[] =>
  data.map(({ starting_at, results: [result] }) => ({
    day: dayOf(new Date(starting_at), timeZone),
    value: result ? (measure === 'cost' ? result.cost : result.tokens.total) : 0,
  }))

function YearTotal({ totals, measure, year }: { totals: Usage['totals']; measure: Measure; year: Scope }) {
  const value = measure === 'cost' ? totals.cost : totals.tokens.total
  return (
    <Note>
      <FigureLink figure={measure} value={value} basis={year.basis} to={addressIn('/entries', year)}>
        {measure === 'cost' ? <Money amount={value} /> : <Count value={value ?? 0} />}
      </FigureLink>{' '}
      in total
    </Note>
  )
}

interface DaysProps extends CalendarProps {
  days: readonly HeatmapDay[]
  label: string
}

/** One tab stop: the arrow keys move between days. */
function Days({ days, label, scope, measure }: DaysProps) {
  const firstDayOfWeek = useFirstDayOfWeek()
  const [, navigate] = useLocation()
  const ref = useRef<HTMLElement>(null)
  const { cells, columns, months } = heatmapOf(days, firstDayOfWeek)
  const [focused, setFocused] = useState<string>()
  const at = Math.max(0, focused === undefined ? cells.length - 1 : cells.findIndex(({ day }) => day === focused))
  const move = (event: KeyboardEvent) => {
    const to = movedTo(event.key, at, cells.length)
    if (to === undefined) return
    event.preventDefault()
    setFocused(cells[to]!.day)
    ref.current?.querySelectorAll('a')[to]?.focus()
  }
  // One listener for a year of links; a new tab is the browser's.
  const open = (event: MouseEvent) => {
    const link = (event.target as Element).closest('a')
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(link.getAttribute('href')!)
  }
  return (
    <div className={classes.scroll} ref={scrolledToEnd}>
      <section
        ref={ref}
        aria-label={`${label}. Use the arrow keys to move between days`}
        className={classes.days}
        style={{ '--columns': columns } as CSSProperties}
        onKeyDown={move}
        onClick={open}
      >
        {months.map(({ column, label }) => (
          <span key={column} className={classes.month} style={{ gridColumn: `${column + 1} / span 3` }} aria-hidden>
            {label}
          </span>
        ))}
        {cells.map(({ day, value, level, column, row }, index) => {
          const text = `${dayInWords(day)}: ${inWords(value, FORMATS[measure])}${measure === 'tokens' ? ' tokens' : ''}`
          return (
            // biome-ignore lint/a11y/useAnchorContent: its label is its content
            <a
              key={day}
              href={addressIn('/entries', during(scope, { from: day, to: day }))}
              className={classes.day}
              data-level={level}
              data-unknown={value === null || undefined}
              style={{ gridColumn: column + 1, gridRow: row + 2 }}
              tabIndex={index === at ? 0 : -1}
              aria-label={text}
              title={text}
              onFocus={() => setFocused(day)}
            />
          )
        })}
      </section>
    </div>
  )
}

/** The latest days are what a phone shows first. */
function scrolledToEnd(element: HTMLDivElement | null): void {
  if (element) element.scrollLeft = element.scrollWidth
}

const Scale = () => (
  <Group gap={4} aria-hidden>
    <Caption>Less</Caption>
    {[0, 1, 2, 3, 4].map((level) => (
      <span key={level} className={classes.day} data-level={level} data-scale />
    ))}
    <Caption>More</Caption>
  </Group>
)
