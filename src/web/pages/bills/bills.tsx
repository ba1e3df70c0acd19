import { Route, Switch } from 'wouter'
import { BillPage } from './bill.tsx'
import { BillList } from './list.tsx'
import { NewBill } from './new-bill.tsx'
import { BillingRun } from './run.tsx'

export default function Section() {
  return (
    <Switch>
      <Route path="/bills" component={BillList} />
      <Route path="/bills/new" component={NewBill} />
      <Route path="/bills/run" component={BillingRun} />
      <Route path="/bills/:id">{({ id }) => <BillPage key={id} id={id} />}</Route>
    </Switch>
  )
}
