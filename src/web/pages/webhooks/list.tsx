/** All webhooks with their state. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { flag, one, useAddress } from '../../address.ts'
import { agoColumn, cellColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Caption } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'
import type { CreatedWebhook, Webhook } from '../../server/webhooks.ts'
import { SecretOnce } from './secret-once.tsx'
import { issueFields, VALIDATION, WebhookFields } from './webhook-fields.tsx'
import { FORMAT_NAMES, hostOf, isSigned, requestOf, typesText, valuesOf } from './webhook-values.ts'

/** A state may change without anybody doing anything: a delivery fails. */
const REFRESH_MS = 5_000

export function WebhookList() {
  const [, navigate] = useLocation()
  const [{ add, failing }, show] = useAddress({ add: one, failing: flag })
  const query = failing ? ({ failing: 'true' } as const) : {}
  const list = useApiList(
    ['webhooks', 'list', query],
    (api, paging) => api.webhooks.get({ query: { ...query, ...paging } }),
    { refetchIntervalMs: REFRESH_MS },
  )
  const openNew = () => show({ add: 'true' })
  return (
    <Page
      title="Webhooks"
      lead="Tally sends events to these addresses as they happen: to your own programs, and to chats."
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={openNew}>
          New webhook
        </Button>
      }
    >
      <Group>
        <Button
          size="xs"
          variant={failing ? 'light' : 'default'}
          aria-pressed={failing}
          onClick={() => show({ failing: !failing })}
        >
          Failing
        </Button>
      </Group>
      <DataTable
        label="Webhooks"
        name="webhooks"
        columns={COLUMNS}
        list={list}
        rowKey={({ id }) => id}
        open={({ id }) => navigate(`/webhooks/${id}`)}
        isMuted={({ state }) => state === 'disabled'}
        empty={
          failing ? (
            <Empty
              title="No failing webhooks"
              action={
                <Button variant="light" onClick={() => show({ failing: false })}>
                  Show all webhooks
                </Button>
              }
            >
              Webhooks whose events could not be delivered, or wait because their owner lost the rights to them, appear
              here.
            </Empty>
          ) : (
            <Empty title="No webhooks" action={<Button onClick={openNew}>New webhook</Button>}>
              A webhook notifies another program or a chat when something happens: a bill was sent, a budget crossed a
              threshold, a backup failed.
            </Empty>
          )
        }
      />
      {add === 'true' && <AddWebhook close={() => show({ add: undefined }, { replace: true })} />}
    </Page>
  )
}

const COLUMNS: Column<Webhook>[] = [
  cellColumn('name', 'Name', { value: ({ name }) => name, phone: 'title' }, ({ name, url }) => (
    <>
      <bdi>{name}</bdi>
      <Caption fw={400}>{hostOf(url)}</Caption>
    </>
  )),
  textColumn('types', 'Events', ({ types }) => typesText(types)),
  cellColumn(
    'scope',
    'Scope',
    { value: ({ client, project }) => client?.name ?? project?.key, width: '170px', phone: 'hidden' },
    ({ client, project }) => <bdi>{client?.name ?? (project ? projectLabel(project) : 'everything')}</bdi>,
  ),
  textColumn('format', 'Format', ({ format }) => FORMAT_NAMES[format], { width: '150px', phone: 'hidden' }),
  agoColumn('last', 'Last sent', ({ last_delivery }) => last_delivery?.at ?? null, { width: '150px' }),
  statusColumn('state', 'State', ({ state }) => state, { width: '100px', phone: 'value' }),
]

/** Adds a webhook, and shows its secret once. */
function AddWebhook({ close }: { close: () => void }) {
  const [, navigate] = useLocation()
  const [added, setAdded] = useState<CreatedWebhook | null>(null)
  if (!added) return <WebhookForm close={close} added={setAdded} />
  const open = () => navigate(`/webhooks/${added.id}`)
  return (
    <Modal opened onClose={open} title={`Webhook “${added.name}”`} closeOnClickOutside={false} closeOnEscape={false}>
      <Stack>
        {isSigned(added.format) ? (
          <SecretOnce secret={added.secret} />
        ) : (
          <Text size="sm">The webhook is added. Send a test to see whether its messages arrive.</Text>
        )}
        <Group justify="flex-end">
          <Button onClick={open}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function WebhookForm({ close, added }: { close: () => void; added: (webhook: CreatedWebhook) => void }) {
  const form = useForm({ initialValues: valuesOf(), validate: VALIDATION })
  const sending = useFormSend({
    form,
    send: (values): Promise<CreatedWebhook> => answer(api.webhooks.post(requestOf(values))),
    changes: ['webhooks', 'audit'],
    after: added,
    fields: issueFields,
  })
  return (
    <FormDialog {...sending} title="New webhook" action="Create webhook" close={close}>
      <WebhookFields form={form} />
    </FormDialog>
  )
}
