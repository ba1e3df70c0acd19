/** Merges a project into another one, after a preview of what moves. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { counted } from '../../format/counts.ts'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Money } from '../../parts/figures.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { Loading } from '../../parts/loading.tsx'
import { type Choice, ProjectPicker } from '../../parts/pickers.tsx'
import { answer, api, apiUntil, type Body } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Project } from './project.ts'

const mergeOf = (id: string, from = api) => from.projects({ id }).merge

type Merged = Body<Awaited<ReturnType<ReturnType<typeof mergeOf>['post']>>>

/** Repeats the call until the merge is complete; each call stops after some seconds. */
async function mergeWhole(id: string, into: string): Promise<Merged> {
  for (;;) {
    const merged = await answer(mergeOf(id).post({ into }))
    if (merged.complete) return merged
  }
}

export function MergeProject({ project, close }: { project: Project; close: () => void }) {
  const [, navigate] = useLocation()
  const [into, setInto] = useState<Choice | null>(null)
  const target = into?.value
  const plan = useQuery({
    // Not under 'projects': after the merge there is nothing to refetch.
    queryKey: ['merge', project.id, target],
    queryFn: ({ signal }) => answer(mergeOf(project.id, apiUntil(signal)).post({ into: target!, dry_run: true })),
    enabled: target !== undefined,
    staleTime: 0,
    retry: false,
  })
  const merge = useSend({
    send: () => mergeWhole(project.id, target!),
    changes: ['projects', 'tickets', 'entries', 'reports', 'rules', 'me', 'audit'],
    done: ({ into }) => `${project.key} merged into ${into.key}.`,
    after: ({ into }) => {
      close()
      navigate(`/work/projects/${into.id}`)
    },
    quiet: true,
  })
  return (
    <FormModal opened onClose={close} title={`Merge ${project.key} into another project`} size="lg">
      <Stack>
        <ProjectPicker label="Into" value={into} change={setInto} placeholder="Project to keep" />
        {target !== undefined && plan.isPending && <Loading lines={3} />}
        {plan.error && <Failure error={plan.error} />}
        {plan.data && <MergePlan plan={plan.data} />}
        {merge.error && <Failure error={merge.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={close}>
            Cancel
          </Button>
          <Button color="red.8" disabled={!plan.data} loading={merge.isPending} onClick={() => merge.mutate()}>
            {plan.data ? `Merge ${plan.data.project.key} into ${plan.data.into.key}` : 'Merge'}
          </Button>
        </Group>
      </Stack>
    </FormModal>
  )
}

function MergePlan({ plan }: { plan: Merged }) {
  const { project, into, aliases, entries, unpriced_entries, cost, billed_entries, tickets, former_leads } = plan
  const { former_viewers, new_viewers } = plan
  return (
    <Stack gap="sm">
      <Text size="sm">
        <b>{project.name}</b> is merged into <b>{into.name}</b>, which takes over what is listed below. You can’t undo
        this.
      </Text>
      <Details
        of={[
          [
            'Entries to move',
            <>
              {counted(entries, 'entry', 'entries')}, <Money amount={cost} />
              {unpriced_entries > 0 && `, ${unpriced_entries} without a price`}
            </>,
          ],
          ['Entries that stay', billed_entries > 0 && `${counted(billed_entries, 'entry', 'entries')} on bills`],
          ['Tickets to move', counted(tickets, 'ticket')],
          [`New aliases of ${into.key}`, aliases.join(', ')],
        ]}
      />
      {former_leads.length > 0 && (
        <Alert color="orange" variant="light">
          {former_leads.map(({ name }) => name).join(', ')} {former_leads.length === 1 ? 'leads' : 'lead'} {project.key}{' '}
          but not {into.key}, and will no longer see these entries.
        </Alert>
      )}
      {former_viewers.length + new_viewers.length > 0 && (
        <Alert color="orange" variant="light">
          {former_viewers.length > 0 &&
            `These viewers see ${project.key}, but not ${into.key}, and will no longer see these entries: ${namesOf(former_viewers)}. `}
          {new_viewers.length > 0 &&
            `These viewers of ${into.key} will also see these entries: ${namesOf(new_viewers)}.`}
        </Alert>
      )}
    </Stack>
  )
}

const namesOf = (people: readonly { name: string }[]) => people.map(({ name }) => name).join(', ')
