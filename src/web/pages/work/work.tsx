/** Projects, clients and tickets: what entries are assigned to, and who receives the bills. */
import { Route, Switch } from 'wouter'
import { oneOf, useAddress } from '../../address.ts'
import { Page } from '../../parts/page.tsx'
import { SectionTabs } from '../../parts/section-tabs.tsx'
import { NotFound } from '../../shell/not-found.tsx'
import { TicketPage } from '../things/ticket.tsx'
import { ClientPage } from './client.tsx'
import { Clients } from './clients.tsx'
import { ProjectPage } from './project.tsx'
import { Projects } from './projects.tsx'
import { Tickets } from './tickets.tsx'

export default function Work() {
  return (
    <Switch>
      <Route path="/work" component={Lists} />
      <Route path="/work/projects/:id">{({ id }) => <ProjectPage key={id} id={id} />}</Route>
      <Route path="/work/clients/:id">{({ id }) => <ClientPage key={id} id={id} />}</Route>
      <Route path="/work/tickets/:id">{({ id }) => <TicketPage key={id} id={id} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}

const TABS = [
  { value: 'projects', title: 'Projects', lists: Projects },
  { value: 'clients', title: 'Clients', lists: Clients },
  { value: 'tickets', title: 'Tickets', lists: Tickets },
]

function Lists() {
  const [{ tab }, show] = useAddress({ tab: oneOf('projects', 'clients', 'tickets') })
  const { lists: List } = TABS.find(({ value }) => value === tab)!
  return (
    <Page
      title="Work"
      lead="Entries are assigned to tickets and projects. A project can belong to a client, who receives its bills."
    >
      <SectionTabs
        label="Work"
        tabs={TABS}
        value={tab}
        // Clear the filters of the other lists.
        change={(chosen) => show({ tab: chosen as typeof tab, ...NO_FILTERS })}
      >
        <List />
      </SectionTabs>
    </Page>
  )
}

const NO_FILTERS = {
  search: undefined,
  archived: undefined,
  client: undefined,
  project: undefined,
  conflicting: undefined,
} as object
