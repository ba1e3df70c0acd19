import { Route, Switch } from 'wouter'
import { WebhookList } from './list.tsx'
import { WebhookPage } from './webhook.tsx'

export default function Webhooks() {
  return (
    <Switch>
      <Route path="/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
      <Route component={WebhookList} />
    </Switch>
  )
}
