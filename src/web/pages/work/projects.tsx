import { Badge, Button, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf, one, oneOf, useAddress } from '../../address.ts'
import { cellColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EmptyCell } from '../../parts/empty-cell.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import { useListOrder } from '../../parts/sorting.tsx'
import { Dimmed } from '../../parts/texts.tsx'
import { useApiList } from '../../server/list.ts'
import { useMe, useRole } from '../../server/me.ts'
import { Budget } from './budget.tsx'
import { ARCHIVED, ListHead } from './list-head.tsx'
import type { Project } from './project.ts'
import { ProjectForm } from './project-form.tsx'
import { THIS_MONTH, useCosts } from './work-usage.ts'

/** The orders that the API knows. */
const SORTS = ['key', 'name', 'client', 'created_at'] as const

export function Projects() {
  const [, navigate] = useLocation()
  const { leads } = useMe()
  const mayChange = useRole('billing', 'admin')
  const [isAdding, setAdding] = useState(false)
  const [{ search, archived, client }, show] = useAddress({ search: one, archived: oneOf(...ARCHIVED), client: one })
  const query = { search, archived, client: client === undefined ? undefined : [client] }
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'name', order: 'asc' })
  const list = useApiList(['projects', query, ordered], (api, paging) =>
    api.projects.get({ query: defined({ ...query, ...ordered, ...paging }) }),
  )
  const seesCosts = mayChange || leads
  const month = useCosts('month', seesCosts)
  const ever = useCosts('ever', seesCosts)
  return (
    <>
      <ListHead
        what="projects"
        search={search}
        archived={archived}
        show={show}
        filters={
          mayChange && (
            <Button
              variant={client === 'none' ? 'light' : 'default'}
              size="xs"
              aria-pressed={client === 'none'}
              onClick={() => show({ client: client === 'none' ? undefined : 'none' })}
            >
              Without a client
            </Button>
          )
        }
        actions={
          <>
            <DownloadCsv path="/projects" query={query} />
            {mayChange && (
              <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
                New project
              </Button>
            )}
          </>
        }
      />
      <DataTable
        label="Projects"
        name="projects"
        columns={[...NAMES, ...(seesCosts ? figures(month, ever) : [])]}
        list={list}
        sorting={sorting}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/work/projects/${id}`)}
        isMuted={({ archived_at }) => archived_at !== null}
        empty={<NoProjects isFiltered={search !== undefined || client !== undefined || archived !== 'false'} />}
      />
      {isAdding && <ProjectForm close={() => setAdding(false)} saved={({ id }) => navigate(`/work/projects/${id}`)} />}
    </>
  )
}

/** Drops undefined parameters, so that they are not sent. */
export const defined = <T extends object>(query: T) =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: NonNullable<T[Name]>
  }

const NAMES: Column<Project>[] = [
  cellColumn(
    'project',
    'Project',
    { sort: 'name', value: ({ name }) => name, phone: 'title' },
    ({ key, name, archived_at, merged_into, billable }) => (
      <Group gap={6} wrap="nowrap">
        <Text span inherit fw={600} truncate>
          {name}
        </Text>
        {name !== key && <Dimmed style={{ flexShrink: 0 }}>{key}</Dimmed>}
        {merged_into ? (
          <Badge color="gray">merged into {merged_into.key}</Badge>
        ) : (
          archived_at && <Badge color="gray">archived</Badge>
        )}
        {billable === false && (
          <Badge color="gray" style={{ flexShrink: 0 }}>
            not billable
          </Badge>
        )}
      </Group>
    ),
  ),
  textColumn('client', 'Client', ({ client }) => client?.name, { sort: 'client', width: '22%', phone: 'bare' }),
  cellColumn(
    'leads',
    'Leads',
    { value: ({ leads }) => leads?.[0]?.name, width: '18%' },
    ({ leads }) => leads?.map(({ name }) => name).join(', ') || <EmptyCell />,
  ),
]

type Costs = ReturnType<typeof useCosts>

const figures = (month: Costs, ever: Costs): Column<Project>[] => [
  cellColumn(
    'month',
    'This month',
    {
      value: ({ id, billable }) => (billable === undefined ? null : (month?.get(id) ?? 0)),
      isNumber: true,
      width: '130px',
      phone: 'value',
    },
    ({ id, billable }) => (billable === undefined ? null : <MonthCost project={id} costs={month} />),
  ),
  cellColumn(
    'budget',
    'Budget used',
    {
      value: ({ id, budget }) => (budget && ever ? (ever.get(id) ?? 0) / budget : null),
      width: '220px',
      phone: 'bare',
    },
    ({ id, budget }) =>
      budget === undefined || budget === null ? (
        <EmptyCell />
      ) : (
        ever && <Budget used={ever.get(id) ?? 0} budget={budget} />
      ),
  ),
]

interface MonthCostProps {
  /** Its id. */
  project: string
  costs: Costs
}

/** The cost of a project in this month; nothing until it is known. */
export const MonthCost = ({ project, costs }: MonthCostProps) =>
  costs && (
    <FigureLink
      figure="cost"
      value={costs.get(project) ?? null}
      to={addressOf('/entries', { project, period: THIS_MONTH })}
    >
      <Money amount={costs.has(project) ? costs.get(project)! : 0} />
    </FigureLink>
  )

const NoProjects = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No matching projects">Try a shorter search, or clear the filters.</Empty>
  ) : (
    <Empty title="No projects yet">
      A project is created when a report first names it. People with the billing or admin role can also create one here,
      with a client, leads and a budget.
    </Empty>
  )
