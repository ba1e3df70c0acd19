/** Shares a report or a bill: a dialog that creates a link, and shows it once. */
import { Alert, Button, Group, Radio, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconShare } from '@tabler/icons-react'
import { useState } from 'react'
import { billedIssues } from '../../shared/billed-reports.ts'
import { BASIS_TITLES, type CostBasis } from '../../shared/cost-basis.ts'
import { namesPeople } from '../../shared/people-dimensions.ts'
import { addDays, dayOf } from '../format/moments.ts'
import { useRole, useSettings } from '../server/me.ts'
import { type CreatedShareLink, createShareLink, type NewShareLink } from '../server/share-links.ts'
import { CopyLine } from './copy-line.tsx'
import { Moment } from './figures.tsx'
import { Form, FormFoot } from './form.tsx'
import { FormModal } from './form-modal.tsx'
import { SettingOff } from './setting-off.tsx'
import { useFormSend } from './use-form-send.ts'

const EXPIRIES = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

type Money = NonNullable<NewShareLink['money']>

const AMOUNTS: { value: Money; label: string; description: string }[] = [
  { value: 'none', label: 'None', description: 'Tokens and entries only.' },
  {
    value: 'billed',
    label: 'Billed amounts',
    description: 'What is on bills, never the cost. For reports filtered by client or project alone, and not by model.',
  },
  { value: 'cost', label: 'Cost', description: 'What the usage costs you.' },
]

/** Of a report by another basis: links never show what plans cost. */
const costChoice = (basis: CostBasis) =>
  basis !== 'cost' && {
    label: BASIS_TITLES[basis],
    ...(basis === 'allocated' && {
      description: 'It shows what plans cost, so links never have it. Choose another cost basis to share cost.',
    }),
  }

type Subject = Pick<NewShareLink, 'report'> | Pick<NewShareLink, 'bill'>

interface ShareProps {
  /** Whether it may show cost and, if it is grouped by them, names people. */
  subject: Subject
  what: string
}

/** While share links are off, it says who can turn them on. */
export function ShareButton(props: ShareProps) {
  const { share_links } = useSettings()
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<CreatedShareLink | null>(null)
  const close = () => {
    setOpen(false)
    setMade(null)
  }
  return (
    <>
      <Button variant="default" leftSection={<IconShare size={16} />} onClick={() => setOpen(true)}>
        Share…
      </Button>
      <FormModal opened={isOpen} onClose={close} title={`Share ${props.what}`}>
        {!share_links && <SettingOff what="Share links" />}
        {share_links && !made && <ShareForm {...props} made={setMade} leave={close} />}
        {made && <LinkOnce made={made} leave={close} />}
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
  const sharesBilled = useRole('billing', 'admin')
  const form = useForm({ initialValues: { note: '', expiry: '30', money: 'none' as Money } })
  const isReport = 'report' in subject
  const { basis: given, ...report } = (isReport && subject.report) || {}
  const basis = (given as CostBasis | undefined) ?? 'cost'
  const naming = isReport ? [subject.report?.group_by ?? []].flat().filter(namesPeople) : []
  const showsPeople = naming.length > 0
  const isBillable = isReport && billedIssues(subject.report ?? {}).length === 0
  const sending = useFormSend({
    form,
    send: ({ note, expiry, money }: typeof form.values) =>
      createShareLink({
        ...(isReport
          ? { report: { ...report, ...(basis === 'allocated' || basis === 'cost' ? {} : { basis }) } }
          : subject),
        expires_at: addDays(dayOf(new Date(), time_zone), Number(expiry)),
        ...(note.trim() !== '' && { note: note.trim() }),
        ...(isReport && { money, people: showsPeople }),
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
            : `${naming.includes('plan') ? 'plan, whose name' : 'a label that'} may contain names: the link shows them`}
          .
        </Alert>
      )}
      {isReport && (
        <Radio.Group label="Amounts" {...form.getInputProps('money')}>
          <Stack gap="xs" mt="xs">
            {AMOUNTS.filter(({ value }) => value !== 'billed' || sharesBilled).map((choice) => (
              <Radio
                key={choice.value}
                {...choice}
                {...(choice.value === 'cost' && costChoice(basis))}
                disabled={
                  (choice.value === 'billed' && !isBillable) || (choice.value === 'cost' && basis === 'allocated')
                }
              />
            ))}
          </Stack>
        </Radio.Group>
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
