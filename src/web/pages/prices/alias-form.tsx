/** Giving a name the price of another model. */
import { Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormDialogue } from '../../parts/form-dialogue.tsx'
import { ModelInput } from '../../parts/model-input.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valued.ts'

export function AliasForm({ alias = '', close }: { alias?: string; close: () => void }) {
  const form = useForm({
    initialValues: { alias, model: '', provider: '' },
    validate: {
      alias: (name) => (name.trim() === '' ? 'Is required: the name that entries report.' : null),
      model: (model) => (model.trim() === '' ? 'Is required: the model whose price it has.' : null),
    },
  })
  const sending = useFormSend({
    form,
    send: async ({ alias, model, provider }: typeof form.values) => {
      const body = { alias: alias.trim(), model: model.trim() }
      const made = await answer(
        api['price-aliases'].post(provider.trim() === '' ? body : { ...body, provider: provider.trim() }),
      )
      return { ...made, entries: await valueTheRest(made.valued) }
    },
    changes: PRICE_CHANGES,
    done: ({ resolution: { price }, entries }, { alias, model }) =>
      price
        ? `${alias} costs as ${price.model} now.${valuedText(entries)}`
        : `${alias} leads to ${model}, which has no price yet.`,
    after: close,
  })
  return (
    <FormDialogue {...sending} title="A name costs as another model" action="Save the name" close={close}>
      <Text size="sm" c="dimmed">
        For names of your own, such as a deployment’s. Entries that were valued keep their value; those without a price
        get one now.
      </Text>
      <TextInput
        label="Name"
        description="Exactly as entries report it."
        placeholder="our-coder"
        required
        {...form.getInputProps('alias')}
      />
      <ModelInput label="Costs as" placeholder="claude-sonnet-4-5" required {...form.getInputProps('model')} />
      <TextInput
        label="Of the provider"
        description="Whose price it is, where several sell the model."
        placeholder="As if the model were named"
        {...form.getInputProps('provider')}
      />
    </FormDialogue>
  )
}
