/** The calculation of a list value, a line for each product. */
import type { ResolutionBody } from '../../features/prices/schema.ts'
import { noteTexts } from '../../shared/price-texts.ts'
import { exactText } from '../terminal/numbers.ts'
import { print, printTable } from '../terminal/print.ts'

type Calculation = Omit<NonNullable<ResolutionBody['value']>, 'note'>

export function printCalculation({ parts, multipliers, tools, list_value }: Calculation, note: string | null): void {
  if (parts.length > 0) {
    printTable(
      [
        { title: 'TOKENS', of: ({ kind }) => kind.replaceAll('_', ' ') },
        { title: 'COUNT', of: ({ tokens }) => tokens.toLocaleString('en'), align: 'right' },
        { title: '× USD PER MILLION', of: ({ price }) => exactText(price), align: 'right' },
        { title: '= USD', of: ({ amount }) => exactText(amount), align: 'right' },
        {
          title: '',
          of: ({ from_tokens }) =>
            from_tokens === null ? '' : `long context, from ${from_tokens.toLocaleString('en')} tokens`,
        },
      ],
      parts,
    )
  }
  for (const { kind, name, multiplier } of multipliers) {
    print(`× ${multiplier} (${kind.replaceAll('_', ' ')} ${name})`)
  }
  for (const { name, uses, price, amount } of tools) {
    print(`+ ${uses.toLocaleString('en')} ${name} × $${exactText(price)} = $${exactText(amount)}`)
  }
  print(`Total, rounded to 9 decimals: $${exactText(list_value)}`)
  for (const text of noteTexts(note)) print(text)
}
