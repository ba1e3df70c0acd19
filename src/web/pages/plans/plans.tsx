/** Plans: what people pay for agents beside the prices of the API. */
import { Route, Switch } from 'wouter'
import { NotFound } from '../../shell/not-found.tsx'
import { PlanList } from './list.tsx'
import { PlanPage } from './plan-page.tsx'

export default function Plans() {
  return (
    <Switch>
      <Route path="/plans" component={PlanList} />
      <Route path="/plans/:id">{({ id }) => <PlanPage key={id} id={id} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}
