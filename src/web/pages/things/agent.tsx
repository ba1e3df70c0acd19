/** One agent, by the name that its reports have. */
import { addressOf } from '../../address.ts'
import { Page } from '../../parts/page.tsx'
import { ThingUsage } from './thing-usage.tsx'

export const AgentPage = ({ name }: { name: string }) => (
  <Page title={name} lead="Agent" above={{ href: addressOf('/reports', { by: 'agent_name' }), title: 'Agents' }}>
    <ThingUsage
      filter={{ agent_name: [name] }}
      by={['agent_manager', 'project', 'ticket', 'model', 'agent_harness', 'client']}
      usual="30d"
    />
  </Page>
)
