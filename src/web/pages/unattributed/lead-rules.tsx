/** The rules that leads made for projects that the person leads, without an admin. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldTitle } from '../../parts/condition.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Dimmed, SectionTitle } from '../../parts/texts.tsx'
import { answer, api, apiQuery, type Body } from '../../server/api.ts'

const ofLeads = api['placement-rules']['of-leads']
type LeadRule = Body<Awaited<ReturnType<typeof ofLeads.get>>>['data'][number]

export function LeadRules() {
  const [removing, setRemoving] = useState<LeadRule | null>(null)
  const { data, error, refetch } = useQuery(
    apiQuery(['rules', 'of-leads'], (api) => api['placement-rules']['of-leads'].get()),
  )
  if (error) return <Failure error={error} retry={refetch} />
  const rules = data?.data ?? []
  if (rules.length === 0) return null
  return (
    <Stack gap="xs" component="section" aria-labelledby="lead-rules">
      <SectionTitle id="lead-rules">Rules of your projects</SectionTitle>
      {rules.map((rule) => (
        <Group key={rule.id} justify="space-between" gap="xs">
          <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
            <bdi>{rule.name}</bdi>: <bdi>{rule.lead_repository}</bdi> to <bdi>{rule.project.key}</bdi>
            {rule.ticket !== null && (
              <>
                , ticket <bdi>{rule.ticket}</bdi>
              </>
            )}
            <Dimmed>
              {/* The first condition is the one on the repository. */}
              {rule.conditions.slice(1).map(({ field, matches }) => ` · ${fieldTitle(field)} ${matches}`)}
              {!rule.enabled && ' · disabled by an admin'}
              {rule.warnings.map((warning) => ` · ${warning}`)}
            </Dimmed>
          </Text>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => setRemoving(rule)}
            aria-label={`Remove ${rule.name}`}
          >
            Remove…
          </Button>
        </Group>
      ))}
      {removing && <RemoveLeadRule rule={removing} close={() => setRemoving(null)} />}
    </Stack>
  )
}

function RemoveLeadRule({ rule: { id, name }, close }: { rule: LeadRule; close: () => void }) {
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Remove “${name}”?`}
      action="Remove rule"
      isDangerous
      send={() => answer(ofLeads({ id }).delete())}
      changes={['rules', 'audit']}
      done={() => `Rule “${name}” removed.`}
    >
      <Text size="sm">
        Entries that it assigned stay where they are. New entries are unattributed unless another rule matches them.
      </Text>
    </ConfirmChange>
  )
}
