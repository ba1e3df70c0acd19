/** The pages of people, agents, models and sessions. Those of clients, projects and tickets are in Work. */
import { Redirect, Route, Switch } from 'wouter'
import { one, useAddress } from '../../address.ts'
import { NotFound } from '../../shell/not-found.tsx'
import { AgentPage } from './agent.tsx'
import { ModelPage } from './model.tsx'
import { PersonUsage } from './person.tsx'
import { SessionPage } from './session.tsx'

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
