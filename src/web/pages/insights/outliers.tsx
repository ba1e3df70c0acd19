/** Sessions that cost far more than is usual for their people. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Moment, Money } from '../../parts/figures.tsx'
import { type Asked, type Outliers, useOutliers } from './queries.ts'
import { Section } from './section.tsx'
import { outliersInWords } from './words.ts'

type Outlier = Outliers['data'][number]

export function OutlierSessions({ asked }: { asked: Asked }) {
  const report = useOutliers(asked)
  const { data } = report
  return (
    <Section
      title="Sessions far above the usual"
      found={data && outliersInWords(data)}
      note="Each is compared with the sessions of the same person in the 28 days before: it costs at least $10 more than their median, and more than any of them. A hint where to look, not proof that something is wrong."
      csv={data && data.data.length > 0 ? { path: '/reports/outliers', query: { ...asked } } : undefined}
      asked={report}
    >
      {data && (
        <DataTable
          label="Sessions far above the usual"
          columns={COLUMNS}
          list={data.data}
          rowKey={({ id }) => id}
          empty={null}
        />
      )}
    </Section>
  )
}

const COLUMNS: Column<Outlier>[] = [
  {
    key: 'summary',
    title: 'Session',
    minWidth: '220px',
    phone: 'title',
    cell: ({ id, summary, agent_name }) => (
      <Anchor component={Link} href={addressOf('/entries', { open: id })} size="sm">
        <bdi>{summary ?? agent_name}</bdi>
      </Anchor>
    ),
  },
  {
    key: 'person',
    title: 'Person',
    width: '140px',
    cell: ({ agent_manager }) => <bdi>{agent_manager.name}</bdi>,
  },
  { key: 'model', title: 'Model', width: '150px', cell: ({ model }) => <bdi>{model}</bdi> },
  { key: 'project', title: 'Project', width: '100px', cell: ({ project }) => <bdi>{project ?? '–'}</bdi> },
  { key: 'at', title: 'Started', width: '150px', cell: ({ started_at }) => <Moment at={started_at} isShort /> },
  {
    key: 'cost',
    title: 'Cost',
    isNumber: true,
    width: '110px',
    phone: 'value',
    cell: ({ cost }) => <Money amount={cost} />,
  },
  { key: 'usual', title: 'Usual', isNumber: true, width: '110px', cell: ({ usual }) => <Money amount={usual} /> },
  {
    key: 'times',
    title: 'Times usual',
    isNumber: true,
    width: '120px',
    cell: ({ times }) => (times === null ? '–' : `${times}×`),
  },
]
