/** All webhooks with their state. */
import { Button, Group } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useLocation } from 'wouter'
import { flag, one, useAddress } from '../../address.ts'
import { agoColumn, statusColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Page } from '../../parts/page.tsx'
import { projectLabel } from '../../parts/project-label.ts'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { PAGE_LIMIT, useList } from '../../server/list.ts'
import type { Webhook } from '../../server/webhooks.ts'
import { AddWebhook } from './add-webhook.tsx'
import { FORMAT_NAMES, hostOf, typesText } from './webhook-values.ts'

/** A state may change without anybody doing anything: a delivery fails. */
const REFRESH_MS = 5_000

export function WebhookList() {
  const [, navigate] = useLocation()
  const [{ add, failing }, show] = useAddress({ add: one, failing: flag })
  const query = failing ? ({ failing: 'true' } as const) : {}
  const list = useList(
    ['webhooks', 'list', query],
    (page, signal) => answer(apiUntil(signal).webhooks.get({ query: { ...query, page, limit: PAGE_LIMIT } })),
    { refetchIntervalMs: REFRESH_MS },
  )
  const openNew = () => show({ add: 'true' })
  return (
    <Page
      title="Webhooks"
      lead="Tally sends events to these addresses as they happen: to your own programs, and to chats."
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={openNew}>
          Add webhook
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
            <Empty title="No webhooks" action={<Button onClick={openNew}>Add webhook</Button>}>
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
  {
    key: 'name',
    title: 'Name',
    value: ({ name }) => name,
    phone: 'title',
    cell: ({ name, url }) => (
      <>
        <bdi>{name}</bdi>
        <Caption fw={400}>{hostOf(url)}</Caption>
      </>
    ),
  },
  textColumn('types', 'Events', ({ types }) => typesText(types)),
  {
    key: 'scope',
    title: 'Scope',
    value: ({ client, project }) => client?.name ?? project?.key,
    width: '170px',
    phone: 'hidden',
    cell: ({ client, project }) => <bdi>{client?.name ?? (project ? projectLabel(project) : 'everything')}</bdi>,
  },
  textColumn('format', 'Format', ({ format }) => FORMAT_NAMES[format], { width: '150px', phone: 'hidden' }),
  agoColumn('last', 'Last sent', ({ last_delivery }) => last_delivery?.at ?? null, { width: '150px' }),
  statusColumn('state', 'State', ({ state }) => state, { width: '100px', phone: 'value' }),
]
