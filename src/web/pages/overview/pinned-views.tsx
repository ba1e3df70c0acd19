/** The views that the person pinned to their overview, each with its total. */
import { Anchor, Grid, Paper, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { changedAddress, readAddress } from '../../address.ts'
import { periodInWords } from '../../parts/period.ts'
import { Caption } from '../../parts/texts.tsx'
import { formatOf, measureOf } from '../../parts/usage/measures.ts'
import { usageQuery } from '../../parts/usage/usage.ts'
import { useSettings } from '../../server/me.ts'
import { type ReportView, reportViewsQuery } from '../../server/report-views.ts'
import { REPORTS_ADDRESS } from '../reports/address.ts'
import { groupsQuestion, questionOf } from '../reports/question.ts'

export function PinnedViews() {
  const { data: views } = useQuery(reportViewsQuery)
  return views
    ?.filter(({ pinned }) => pinned)
    .map((view) => (
      <Grid.Col key={view.id} span={{ base: 12, sm: 6, xl: 3 }}>
        <PinnedView view={view} />
      </Grid.Col>
    ))
}

function PinnedView({ view: { id, name, parameters } }: { view: ReportView }) {
  const { time_zone } = useSettings()
  const address = changedAddress('/reports', '', { ...parameters, view: id })
  const question = questionOf(readAddress(address.split('?')[1] ?? '', REPORTS_ADDRESS), time_zone)
  const { data } = useQuery(usageQuery({ ...groupsQuestion(question), by: [] }))
  const { title, of } = measureOf(question.measure)
  const value = data && of(data.totals)
  return (
    <Paper withBorder p="md" h="100%">
      <Anchor component={Link} href={address} size="sm" fw={600} c="inherit">
        <bdi>{name}</bdi>
      </Anchor>
      <Text fz="xl" fw={600}>
        {value === undefined || value === null ? '–' : formatOf(question.measure).inWords(value)}
      </Text>
      <Caption>
        {title} · {periodInWords(question.period)}
      </Caption>
    </Paper>
  )
}
