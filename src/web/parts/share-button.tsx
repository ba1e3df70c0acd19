/** Shares a report or a bill: a dialog that creates a link, and shows it once. */
import { Alert, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconShare } from '@tabler/icons-react'
import { useState } from 'react'
import { namesPeople } from '../../shared/people-dimensions.ts'
import { addDays, dayOf } from '../format/moments.ts'
import { useSettings } from '../server/me.ts'
import { type CreatedShareLink, createShareLink, type NewShareLink } from '../server/share-links.ts'
import { CopyLine } from './copy-line.tsx'
import { Moment } from './figures.tsx'
import { Form, FormFoot } from './form.tsx'
import { FormModal } from './form-modal.tsx'
import { useFormSend } from './use-form-send.ts'

const EXPIRIES = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

type Subject = Pick<NewShareLink, 'report'> | Pick<NewShareLink, 'bill'>

interface ShareProps {
  /** Whether it may show cost and, if it is grouped by them, names people. */
  subject: Subject
  what: string
}

/** Only while an admin allows share links. */
export function ShareButton(props: ShareProps) {
  const { share_links } = useSettings()
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<CreatedShareLink | null>(null)
  const close = () => {
    setOpen(false)
    setMade(null)
  }
  if (!share_links) return null
  return (
    <>
      <Button variant="default" leftSection={<IconShare size={16} />} onClick={() => setOpen(true)}>
        Share…
      </Button>
      <FormModal opened={isOpen} onClose={close} title={`Share ${props.what}`}>
        {made ? <LinkOnce made={made} leave={close} /> : <ShareForm {...props} made={setMade} leave={close} />}
      </FormModal>
    </>
  )
}

function LinkOnce({ made, leave }: { made: CreatedShareLink; leave: () => void }) {
  return (
    <Stack>
      <Text size="sm">
        Anyone who has this link can open it until <Moment at={made.expires_at} />. It won’t be shown again; you can
        revoke it on the page Share links.
      </Text>
      <CopyLine text={made.link} label="Copy link" />
      <Group justify="flex-end">
        <Button onClick={leave}>Done</Button>
      </Group>
    </Stack>
  )
}

interface ShareFormProps extends ShareProps {
  made: (link: CreatedShareLink) => void
  leave: () => void
}

function ShareForm({ subject, made, leave }: ShareFormProps) {
  const { time_zone } = useSettings()
  const form = useForm({ initialValues: { note: '', expiry: '30', cost: false } })
  const isReport = 'report' in subject
  const naming = isReport ? [subject.report?.group_by ?? []].flat().filter(namesPeople) : []
  const showsPeople = naming.length > 0
  const sending = useFormSend({
    form,
    send: ({ note, expiry, cost }: typeof form.values) =>
      createShareLink({
        ...subject,
        expires_at: addDays(dayOf(new Date(), time_zone), Number(expiry)),
        ...(note.trim() !== '' && { note: note.trim() }),
        ...(isReport && { money: cost ? ('cost' as const) : ('none' as const), people: showsPeople }),
      }),
    changes: ['share-links'],
    after: made,
  })
  return (
    <Form sending={sending}>
      <Text size="sm">
        Anyone with the link sees this {isReport ? 'report' : 'bill'} without an account, limited to your access at that
        time.
      </Text>
      {showsPeople && (
        <Alert color="orange" variant="light">
          This report is grouped by{' '}
          {naming.includes('agent_manager')
            ? 'person: the link shows their names'
            : 'a label that may contain names: the link shows them'}
          .
        </Alert>
      )}
      {isReport && (
        <Checkbox
          label="Show cost"
          description="Otherwise, tokens and entries only."
          {...form.getInputProps('cost', { type: 'checkbox' })}
        />
      )}
      <TextInput
        label="Note"
        description="Who this link is for. Only shown in the list of links."
        data-autofocus
        {...form.getInputProps('note')}
      />
      <Select label="Expires" data={EXPIRIES} allowDeselect={false} {...form.getInputProps('expiry')} />
      <FormFoot action="Create link" close={leave} isSending={sending.isSending} />
    </Form>
  )
}
