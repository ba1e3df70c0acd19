/** Saved views: opens one, and saves, renames, updates, shares, pins and deletes one's own. */
import { Button, Checkbox, Group, Menu, Modal, Stack, Text, TextInput } from '@mantine/core'
import { IconBookmark } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { FormModal } from '../../parts/form-modal.tsx'
import { Caption } from '../../parts/texts.tsx'
import { useMe } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import {
  type ReportView,
  reportViewsQuery,
  useChangeView,
  useRemoveView,
  useSaveView,
} from '../../server/report-views.ts'
import type { ViewParameters } from './view-parameters.ts'

interface SavedViewsProps {
  /** The question on the page. */
  parameters: ViewParameters
  /** The view that was opened. */
  open: string | undefined
}

/** The address of a report that a view opens. */
const addressOfView = ({ id, parameters }: Pick<ReportView, 'id' | 'parameters'>): string =>
  addressOf('/reports', { ...parameters, view: id })

type Dialog = 'save' | 'rename' | 'delete'

export function SavedViews({ parameters, open }: SavedViewsProps) {
  const { data: views = [] } = useQuery(reportViewsQuery)
  const { person } = useMe()
  const [, navigate] = useLocation()
  const [dialog, setDialog] = useState<Dialog>()
  const close = () => setDialog(undefined)
  const view = views.find(({ id }) => id === open)
  const change = useChangeView(close)
  const remove = useRemoveView(() => {
    close()
    navigate(addressOf('/reports', parameters))
  })
  const groups = { 'My views': views.filter(({ mine }) => mine), 'Shared views': views.filter(({ mine }) => !mine) }
  const { basis } = parameters
  // Views of earlier versions have no basis.
  const saved = view && { ...(basis && { basis }), ...view.parameters }
  const isChanged = saved !== undefined && JSON.stringify(sorted(saved)) !== JSON.stringify(sorted(parameters))
  return (
    <>
      <Menu position="bottom-end" shadow="md" width={280}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} />} maw={260}>
            <bdi>{view ? `${view.name}${isChanged ? ' (changed)' : ''}` : 'Saved views'}</bdi>
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {Object.entries(groups).map(([title, listed]) => (
            <ViewItems key={title} title={title} views={listed} choose={(view) => navigate(addressOfView(view))} />
          ))}
          {views.length === 0 && <Menu.Label>Save a report to open it again later.</Menu.Label>}
          <Menu.Divider />
          <Menu.Item onClick={() => setDialog('save')}>Save as new view</Menu.Item>
          {view?.mine && (
            <>
              <Menu.Item disabled={!isChanged} onClick={() => change.mutate({ id: view.id, parameters })}>
                Update view
              </Menu.Item>
              <Menu.Item onClick={() => setDialog('rename')}>Rename view</Menu.Item>
              <Menu.Item onClick={() => change.mutate({ id: view.id, shared: !view.shared })}>
                {view.shared ? 'Stop sharing' : 'Share with the organization'}
              </Menu.Item>
              <Menu.Item onClick={() => change.mutate({ id: view.id, pinned: !view.pinned })}>
                {view.pinned ? 'Unpin from overview' : 'Pin to overview'}
              </Menu.Item>
            </>
          )}
          {view && (view.mine || person.role === 'admin') && (
            <Menu.Item color="red" onClick={() => setDialog('delete')}>
              Delete view
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <FormModal opened={dialog === 'save'} onClose={close} title="Save view">
        <SaveForm parameters={parameters} close={close} />
      </FormModal>
      <FormModal opened={dialog === 'rename' && view !== undefined} onClose={close} title="Rename view">
        {view && (
          <RenameForm
            name={view.name}
            isSending={change.isPending}
            rename={(name) => change.mutate({ id: view.id, name })}
          />
        )}
      </FormModal>
      <Modal opened={dialog === 'delete' && view !== undefined} onClose={close} title="Delete view">
        <Stack>
          <Text size="sm">
            <bdi>{view?.name}</bdi> is deleted{view?.shared && ' for everyone'}. The entries stay as they are.
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => view && remove.mutate(view)}>
              Delete view
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

/** Independent of the order in which parameters were added to the address. */
const sorted = (parameters: ViewParameters) =>
  Object.entries(parameters).toSorted(([one], [other]) => (one < other ? -1 : 1))

interface ViewItemsProps {
  title: string
  views: readonly ReportView[]
  choose: (view: ReportView) => void
}

const ViewItems = ({ title, views, choose }: ViewItemsProps) =>
  views.length > 0 && (
    <>
      <Menu.Label>{title}</Menu.Label>
      {views.map((view) => (
        <Menu.Item key={view.id} onClick={() => choose(view)}>
          <bdi>{view.name}</bdi>
          <Caption component="span" display="block">
            {view.mine ? view.shared && 'Shared with the organization' : <bdi>{view.owner.name}</bdi>}
          </Caption>
        </Menu.Item>
      ))}
    </>
  )

function SaveForm({ parameters, close }: { parameters: ViewParameters; close: () => void }) {
  const [, navigate] = useLocation()
  const [name, setName] = useState('')
  const [shared, setShared] = useState(false)
  const [pinned, setPinned] = useState(false)
  const save = useSaveView((view) => {
    close()
    navigate(addressOfView(view), { replace: true })
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate({ name: name.trim(), parameters, shared, pinned })
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={name}
          error={save.error && (asProblem(save.error).issues?.[0]?.message ?? asProblem(save.error).message)}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Checkbox
          label="Share with the organization"
          description="Others see the name and the filters, and only figures that they may see themselves."
          checked={shared}
          onChange={({ currentTarget }) => setShared(currentTarget.checked)}
        />
        <Checkbox
          label="Pin to my overview"
          checked={pinned}
          onChange={({ currentTarget }) => setPinned(currentTarget.checked)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
            Save view
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function RenameForm({ name, isSending, rename }: { name: string; isSending: boolean; rename: (name: string) => void }) {
  const [typed, setTyped] = useState(name)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        rename(typed.trim())
      }}
    >
      <Stack>
        <TextInput
          label="Name"
          required
          data-autofocus
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={isSending} disabled={typed.trim() === ''}>
            Rename view
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
