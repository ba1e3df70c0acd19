/** Deputies: who approves for the person while they are away, and for whom they approve. */
import { Button, Group, Skeleton, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { cellColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiUntil } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'

const askDeputies = async ({ signal }: { signal: AbortSignal }) => (await answer(apiUntil(signal).deputies.get())).data
type Deputy = Awaited<ReturnType<typeof askDeputies>>[number]

const STATES: Record<Deputy['state'], string> = { upcoming: 'Upcoming', active: 'Active', ended: 'Ended' }

export function Deputies() {
  const [isNaming, setNaming] = useState(false)
  const { data, error, refetch } = useQuery({ queryKey: ['me', 'deputies'], queryFn: askDeputies })
  const remove = useSend({
    send: (id: string) => answer(api.deputies({ id }).delete()),
    changes: ['me', 'audit'],
    done: () => 'Deputy removed.',
  })
  const { person: me } = useMe()
  if (error) return <Failure error={error} retry={refetch} />
  const columns: Column<Deputy>[] = [
    cellColumn('who', 'Deputy', { value: ({ deputy }) => deputy.name, phone: 'title' }, ({ person, deputy }) =>
      person.id === me.id ? deputy.name : `${deputy.id === me.id ? 'You' : deputy.name}, for ${person.name}`,
    ),
    cellColumn('days', 'Days', { value: ({ from }) => from, width: '220px' }, ({ from, to }) => `${from} to ${to}`),
    textColumn('state', 'State', ({ state }) => STATES[state], { width: '110px' }),
    cellColumn(
      'remove',
      '',
      { width: '110px' },
      ({ id, state, deputy }) =>
        state !== 'ended' && (
          <Button
            size="compact-xs"
            variant="subtle"
            color="red"
            aria-label={`Remove ${deputy.name}`}
            onClick={() => remove.mutate(id)}
          >
            Remove
          </Button>
        ),
    ),
  ]
  return (
    <Stack gap="sm">
      {data ? (
        data.length > 0 && (
          <DataTable
            label="Deputies"
            name="deputies"
            columns={columns}
            list={data}
            rowKey={({ id }) => id}
            empty={null}
          />
        )
      ) : (
        <Skeleton height={80} />
      )}
      <Caption>
        A deputy approves the entries and token sheets of your projects between two days, for example while you are on
        vacation. They see only what they can decide about, and cannot approve your entries.
      </Caption>
      <Button variant="default" w="fit-content" onClick={() => setNaming(true)}>
        Name a deputy…
      </Button>
      {isNaming && <NameDeputy close={() => setNaming(false)} />}
    </Stack>
  )
}

const isEmpty = (value: string) => (value.trim() === '' ? 'Required.' : null)

function NameDeputy({ close }: { close: () => void }) {
  const form = useForm({
    initialValues: { deputy: '', from: '', to: '' },
    validate: { deputy: isEmpty, from: isEmpty, to: isEmpty },
  })
  const sending = useFormSend({
    form,
    send: ({ deputy, from, to }) => answer(api.deputies.post({ deputy: deputy.trim(), from, to })),
    changes: ['me', 'audit'],
    done: ({ deputy }) => `${deputy.name} is your deputy.`,
    after: close,
  })
  return (
    <FormDialog {...sending} title="Name a deputy" action="Name deputy" close={close}>
      <TextInput
        label="E-mail address"
        type="email"
        placeholder="grace@example.com"
        required
        data-autofocus
        {...form.getInputProps('deputy')}
      />
      <Group grow>
        <TextInput label="First day" type="date" required {...form.getInputProps('from')} />
        <TextInput label="Last day" type="date" required {...form.getInputProps('to')} />
      </Group>
    </FormDialog>
  )
}
