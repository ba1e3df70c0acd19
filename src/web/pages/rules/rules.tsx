import { Redirect, Route, Switch } from 'wouter'
import { useRole } from '../../server/me.ts'
import { NotFound } from '../../shell/not-found.tsx'
import { ChangeRule, NewRule } from './one-rule.tsx'
import { RuleList } from './rule-list.tsx'

export default function Rules() {
  const mayChange = useRole('admin')
  return (
    <Switch>
      <Route path="/rules" component={RuleList} />
      <Route path="/rules/new">{mayChange ? <NewRule /> : <Redirect to="/rules" />}</Route>
      <Route path="/rules/:id">{({ id }) => <ChangeRule key={id} id={id} />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}
