/** The pages of a new rule and of an existing one. */
import { Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import type { Rule } from '../../parts/rule.ts'
import { RuleEditor } from '../../parts/rule-editor.tsx'
import { draftOf } from '../../parts/rule-values.ts'
import { answer, api, apiUntil } from '../../server/api.ts'
import { useRole } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { NotFound } from '../../shell/not-found.tsx'

const ABOVE = { href: '/rules', title: 'Rules' }

export function NewRule() {
  const [, navigate] = useLocation()
  const back = () => navigate('/rules')
  return (
    <Page
      title="New rule"
      above={ABOVE}
      lead="A rule assigns entries whose report names no project or ticket and that no earlier rule matches."
    >
      <RuleEditor saved={back} leave={back} />
    </Page>
  )
}

export function ChangeRule({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['rules', 'one', id],
    queryFn: ({ signal }): Promise<Rule> => answer(apiUntil(signal)['placement-rules']({ id }).get()),
  })
  if (error) {
    const problem = asProblem(error)
    return problem.status === 404 ? <NotFound /> : <Failure error={problem} retry={refetch} />
  }
  return data ? <OneRule rule={data} /> : <Loading />
}

function OneRule({ rule }: { rule: Rule }) {
  const [, navigate] = useLocation()
  const [isRemoving, setRemoving] = useState(false)
  const mayChange = useRole('admin')
  const back = () => navigate('/rules')
  return (
    <Page
      title={rule.name}
      above={ABOVE}
      lead={
        <>
          Position {rule.position}
          {!rule.enabled && ' (disabled)'}, version {rule.version}, changed <Moment at={rule.changed_at} />. Changes
          don’t affect entries that the rule has already assigned.
          {rule.lead_repository !== null && ' A lead created this rule; once you change it, it is a rule of admins.'}
        </>
      }
      actions={
        mayChange && (
          <Button variant="default" color="red" onClick={() => setRemoving(true)}>
            Remove rule
          </Button>
        )
      }
    >
      <RuleEditor rule={rule} start={draftOf(rule)} mayChange={mayChange} saved={back} leave={back} />
      <RemoveRule rule={rule} isOpen={isRemoving} close={() => setRemoving(false)} removed={back} />
    </Page>
  )
}

interface RemoveRuleProps {
  rule: Rule
  isOpen: boolean
  close: () => void
  removed?: () => void
}

export function RemoveRule({ rule, isOpen, close, removed }: RemoveRuleProps) {
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={`Remove “${rule.name}”?`}
      action="Remove rule"
      isDangerous
      send={() => answer(api['placement-rules']({ id: rule.id }).delete())}
      changes={['rules', 'audit']}
      done={() => `Rule “${rule.name}” removed.`}
      leave={() => removed?.()}
    >
      <Text size="sm">
        Entries that it assigned stay where they are and still show this rule. New entries go through the remaining
        rules. To pause the rule instead, disable it.
      </Text>
    </ConfirmChange>
  )
}
