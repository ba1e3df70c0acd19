/** Adds an alias: a name that uses the price of another model. */
import { TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { ModelInput } from '../../parts/model-input.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valuation.ts'

export function AliasForm({ alias = '', close }: { alias?: string; close: () => void }) {
  const form = useForm({
    initialValues: { alias, model: '', provider: '' },
    validate: {
      alias: (name) => (name.trim() === '' ? 'Enter the name that entries report.' : null),
      model: (model) => (model.trim() === '' ? 'Enter the model whose price to use.' : null),
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
        ? `${alias} now uses the price of ${price.model}.${valuedText(entries)}`
        : `${alias} is now an alias of ${model}, which has no price yet.`,
    after: close,
  })
  return (
    <FormDialog {...sending} title="New model alias" action="Create alias" close={close}>
      <Note>
        Entries that report this name use the price of another model, for example for a deployment with its own name.
        Entries that already have a list value keep it; entries without a price get one now.
      </Note>
      <TextInput
        label="Alias"
        description="Exactly as entries report it."
        placeholder="our-coder"
        required
        {...form.getInputProps('alias')}
      />
      <ModelInput label="Use the price of" placeholder="claude-sonnet-4-5" required {...form.getInputProps('model')} />
      <TextInput
        label="Provider"
        description="Whose price to use, if several providers sell the model."
        placeholder="Automatic"
        {...form.getInputProps('provider')}
      />
    </FormDialog>
  )
}
