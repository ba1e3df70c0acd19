/** The pages of people, agents, models and sessions. Those of clients, projects and tickets are in Work. */
import { Redirect, Route, Switch } from 'wouter'
import { addressOf, one, useAddress } from '../../address.ts'
import { Page } from '../../parts/page.tsx'
import { NotFound } from '../../shell/not-found.tsx'
import { usageOf } from './kinds.ts'
import { ModelPage } from './model.tsx'
import { PersonUsage } from './person.tsx'
import { SessionPage } from './session.tsx'
import { ThingUsage } from './thing-usage.tsx'

/** One agent, by the name that its reports have. */
const AgentPage = ({ name }: { name: string }) => (
  <Page title={name} lead="Agent" above={{ href: addressOf('/reports', { by: 'agent_name' }), title: 'Agents' }}>
    <ThingUsage of={usageOf('agent', name)} />
  </Page>
)

const NAMED = { agent: AgentPage, model: ModelPage, session: SessionPage } as const

export default function Things() {
  return (
    <Switch>
      <Route path="/usage/people/:id">{({ id }) => <PersonUsage key={id} id={id} />}</Route>
      <Route path="/usage/:kind">
        {({ kind }) => (Object.hasOwn(NAMED, kind) ? <Named kind={kind as keyof typeof NAMED} /> : <NotFound />)}
      </Route>
      <Route path="/usage">
        <Redirect to="/reports" replace />
      </Route>
      <Route component={NotFound} />
    </Switch>
  )
}

function Named({ kind }: { kind: keyof typeof NAMED }) {
  const [{ name }] = useAddress({ name: one })
  const Shown = NAMED[kind]
  return name === undefined ? <NotFound /> : <Shown key={name} name={name} />
}
