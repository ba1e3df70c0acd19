/** One agent, by the name that its reports have. */
import { addressOf } from '../../address.ts'
import { Page } from '../../parts/page.tsx'
import { usageOf } from './kinds.ts'
import { ThingUsage } from './thing-usage.tsx'

export const AgentPage = ({ name }: { name: string }) => (
  <Page title={name} lead="Agent" above={{ href: addressOf('/reports', { by: 'agent_name' }), title: 'Agents' }}>
    <ThingUsage of={usageOf('agent', name)} />
  </Page>
)
