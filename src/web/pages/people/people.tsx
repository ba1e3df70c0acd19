import { Route, Switch } from 'wouter'
import { PeopleList } from './list.tsx'
import { PersonPage } from './person.tsx'

export default function Section() {
  return (
    <Switch>
      <Route path="/people/:id">{({ id }) => <PersonPage key={id} id={id} />}</Route>
      <Route component={PeopleList} />
    </Switch>
  )
}
