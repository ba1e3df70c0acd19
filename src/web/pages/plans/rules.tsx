/** Funding rules: what pays for usage whose report does not say so. */
import { Badge, Button, Group, Menu, Select, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { FUNDING_TITLES, fundingTitle } from '../../../shared/funding.ts'
import { type ConditionRow, conditionOf, EMPTY_ROW, rowOf } from '../../parts/condition.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { RowActions } from '../../parts/more-actions.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { RuleConditions } from '../../parts/rule-conditions.tsx'
import { optionsOf } from '../../parts/segmented.tsx'
import { Note, SectionTitle } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api, apiQuery, apiUntil } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import { coversInWords } from './plan.ts'
import { CHANGES } from './plan-form.tsx'
import { PreviewChanges } from './preview.tsx'

const rules = api['funding-rules']

const askRules = ({ signal }: { signal: AbortSignal }) => answer(apiUntil(signal)['funding-rules'].get())
type FundingRule = Awaited<ReturnType<typeof askRules>>['data'][number]

export function FundingRules() {
  const [open, setOpen] = useState<{ rule: FundingRule | null; do: 'edit' | 'remove' } | null>(null)
  const { data, error, refetch } = useQuery({ queryKey: ['plans', 'rules'], queryFn: askRules })
  const list = data?.data
  const close = () => setOpen(null)
  return (
    <Stack gap="xs">
      <Group justify="space-between">
        <SectionTitle>Funding rules</SectionTitle>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => setOpen({ rule: null, do: 'edit' })}
        >
          New funding rule
        </Button>
      </Group>
      <Note>
        Funding is what the report says, or else the first of these rules that matches, or else the person’s plan.
        Changes apply to unlocked entries within seconds.
      </Note>
      {error && !list && <Failure error={error} retry={refetch} />}
      {!list && !error && <Loading />}
      {list && list.length > 0 && (
        <PlainTable
          label="Funding rules"
          isStacked
          columns={[
            { key: 'position', title: '#', width: '48px', cell: ({ position }) => position },
            {
              key: 'name',
              title: 'Rule',
              cell: ({ name, enabled }) => (
                <Group gap={6} wrap="nowrap">
                  <bdi>{name}</bdi>
                  {!enabled && <Badge color="gray">disabled</Badge>}
                </Group>
              ),
            },
            { key: 'when', title: 'Matches', cell: ({ conditions }) => <bdi>{coversInWords(conditions)}</bdi> },
            { key: 'pays', title: 'Paid by', cell: ({ funding: kind, plan }) => fundingTitle({ kind, plan }) },
            {
              key: 'actions',
              title: '',
              width: '48px',
              cell: (rule) => <RuleMenu rule={rule} list={list} choose={(chosen) => setOpen({ rule, do: chosen })} />,
            },
          ]}
          rows={list}
          rowKey={({ id }) => id}
        />
      )}
      {open?.do === 'edit' && <RuleForm rule={open.rule} close={close} />}
      {open?.do === 'remove' && open.rule && (
        <ConfirmChange
          isOpen
          close={close}
          title={`Remove ${open.rule.name}?`}
          action="Remove"
          of={open.rule}
          send={(options) => answer(rules({ id: open.rule!.id }).delete(undefined, options))}
          changes={RULE_CHANGES}
          done={() => 'Funding rule removed.'}
        >
          <Text size="sm">The funding of unlocked entries that it matched is updated.</Text>
        </ConfirmChange>
      )}
    </Stack>
  )
}

const RULE_CHANGES = [...CHANGES, 'entries'] as const

interface RuleMenuProps {
  rule: FundingRule
  list: readonly FundingRule[]
  choose: (chosen: 'edit' | 'remove') => void
}

function RuleMenu({ rule, list, choose }: RuleMenuProps) {
  const order = useSend({
    send: (to: number) => {
      const others = list.map(({ id }) => id).filter((id) => id !== rule.id)
      return answer(rules.order.put({ rules: others.toSpliced(to, 0, rule.id) }))
    },
    changes: RULE_CHANGES,
    done: () => 'Order of the funding rules saved.',
  })
  const enable = useSend({
    send: (enabled: boolean) => answer(rules({ id: rule.id }).patch({ enabled })),
    changes: RULE_CHANGES,
    done: ({ name, enabled }) => `${name} ${enabled ? 'enabled' : 'disabled'}.`,
  })
  const at = list.indexOf(rule)
  return (
    <RowActions label={`Actions for ${rule.name}`}>
      <Menu.Item onClick={() => choose('edit')}>Edit</Menu.Item>
      <Menu.Item disabled={at === 0} onClick={() => order.mutate(at - 1)}>
        Move up
      </Menu.Item>
      <Menu.Item disabled={at === list.length - 1} onClick={() => order.mutate(at + 1)}>
        Move down
      </Menu.Item>
      <Menu.Item onClick={() => enable.mutate(!rule.enabled)}>{rule.enabled ? 'Disable' : 'Enable'}</Menu.Item>
      <Menu.Item onClick={() => choose('remove')}>Remove</Menu.Item>
    </RowActions>
  )
}

interface RuleValues {
  name: string
  rows: ConditionRow[]
  funding: FundingRule['funding']
  plan: string | null
}

const needsPlan = ({ funding }: Pick<RuleValues, 'funding'>) => funding === 'plan' || funding === 'credits'

const bodyOf = ({ name, rows, ...values }: RuleValues) => ({
  name,
  conditions: rows.map(conditionOf),
  funding: values.funding,
  plan: needsPlan(values) ? values.plan : null,
})

const fieldsOf = ({ rows }: RuleValues) => ({
  ...Object.fromEntries(
    rows.flatMap((_, at) => [
      [`/conditions/${at}/field`, `rows.${at}.field`],
      [`/conditions/${at}/matches`, `rows.${at}.text`],
    ]),
  ),
  '/conditions': 'rows',
})

function RuleForm({ rule, close }: { rule: FundingRule | null; close: () => void }) {
  const form = useForm<RuleValues>({
    initialValues: {
      name: rule?.name ?? '',
      rows: rule ? rule.conditions.map(rowOf) : [{ ...EMPTY_ROW, field: 'agent_harness', label: '' }],
      funding: rule?.funding ?? 'metered',
      plan: rule?.plan?.id ?? null,
    },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      rows: { text: (text) => (text === '' ? 'Enter a pattern; * matches everything.' : null) },
      plan: (plan, values) => (needsPlan(values) && plan === null ? 'Choose a plan.' : null),
    },
  })
  const { data: plans } = useQuery(apiQuery(['plans', 'list'], (api) => api.plans.get()))
  const sending = useFormSend({
    form,
    ...(rule && { of: rule }),
    send: (values, options): Promise<FundingRule> =>
      answer(rule ? rules({ id: rule.id }).patch(bodyOf(values), options) : rules.post(bodyOf(values))),
    changes: RULE_CHANGES,
    done: ({ name }) => `Funding rule ${name} saved.`,
    after: close,
    fields: fieldsOf,
  })
  return (
    <FormDialog
      {...sending}
      title={rule ? `Edit ${rule.name}` : 'New funding rule'}
      action={rule ? 'Save changes' : 'Create rule'}
      close={close}
      size="xl"
    >
      <TextInput label="Name" data-autofocus {...form.getInputProps('name')} />
      <RuleConditions form={form} title="All conditions must match" mayBeEmpty />
      <Group grow align="flex-start">
        <Select
          label="Paid by"
          allowDeselect={false}
          data={optionsOf(FUNDING_TITLES)}
          {...form.getInputProps('funding')}
        />
        {needsPlan(form.values) && (
          <Select
            label="Plan"
            description="The rule is skipped for people without this plan."
            data={(plans?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
            {...form.getInputProps('plan')}
          />
        )}
      </Group>
      <PreviewChanges
        form={form}
        fields={fieldsOf}
        ask={(values) => {
          const enabled = rule?.enabled ?? true
          return answer(
            rules.preview.post({ rule: { ...bodyOf(values), enabled }, ...(rule && { replaces: rule.id }) }),
          )
        }}
      />
    </FormDialog>
  )
}
