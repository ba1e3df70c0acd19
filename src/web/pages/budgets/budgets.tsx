/** Budgets: how much may be spent on something in a period, and who is notified when a share of it is spent. */
import { Route, Switch } from 'wouter'
import { NotFound } from '../../shell/not-found.tsx'
import { BudgetPage } from './budget-page.tsx'
import { BudgetList } from './list.tsx'

export default function Budgets() {
  return (
    <Switch>
      <Route path="/budgets" component={BudgetList} />
      <Route path="/budgets/:id">{({ id }) => <BudgetPage key={id} id={id} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}
