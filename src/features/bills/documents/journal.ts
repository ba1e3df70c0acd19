/**
 * A bill as a transaction of a hledger journal (https://hledger.org/hledger.html): the amount owed by the client, the
 * income by project, and the tax. Accounts and the currency are declared, so that `hledger check --strict` accepts the
 * file on its own.
 */
import { billBasisText } from '../../../shared/cost-basis.ts'
import { textOf } from '../document.ts'
import type { BillDocument } from '../schema.ts'
import { minorOf, plainAmount } from './content.ts'

const INCOME = 'income:agents'

export function journalOf(document: BillDocument): string {
  const { currency, minor_digits: digits, issuer, recipient, period } = document
  const number = document.number!
  const costs = billBasisText(document)
  const kind = document.kind === 'bill' ? 'Bill' : 'Credit note'
  const postings = postingsOf(document).filter(([, minor], index) => index === 0 || minor !== 0n)
  const width = Math.max(...postings.map(([account]) => account.length))
  // Without thousands separators, which hledger would need a directive for.
  const amount = (minor: bigint) => `${plainAmount(minor, digits)} ${currency}`
  // A currency is declared with its decimal mark, even if it has no decimals.
  const sample = `${plainAmount(10n ** BigInt(digits + 3), digits)}${digits === 0 ? '.' : ''}`
  return [
    `; ${kind} ${plain(number)} of ${plain(issuer.name)}`,
    '',
    `commodity ${sample} ${currency}`,
    ...postings.map(([account]) => `account ${account}`),
    '',
    `${document.issued_on} (${plain(number).replaceAll(/[()]/g, '-')}) ${plain(recipient?.name ?? issuer.name)}`,
    `    ; ${kind} for ${period.from} to ${period.to}, due:${document.due_on}`,
    ...(costs === undefined ? [] : [`    ; costs on this bill: ${costs}`]),
    ...(document.corrects ? [`    ; corrects ${plain(document.corrects.number)}`] : []),
    ...postings.map(([account, minor]) => `    ${account.padEnd(width)}  ${amount(minor)}`),
    '',
  ].join('\n')
}

/** The postings, which sum to zero: the total, then its components. The client's comes first. */
function postingsOf(document: BillDocument): [account: string, minor: bigint][] {
  const income = new Map<string, bigint>()
  const earn = (account: string, minor: bigint) => income.set(account, (income.get(account) ?? 0n) - minor)
  for (const { lines } of document.sections) {
    for (const line of lines) {
      const project = document.group_by.includes('project') ? line.keys.project : document.scope.project
      const name = textOf(project ?? null)
      const account = name === undefined ? `${INCOME}:no project` : `${INCOME}:${accountName(name)}`
      earn(account, minorOf(line, 'amount', document))
    }
  }
  for (const extra of document.extra_lines) earn('income:other', minorOf(extra, 'amount', document))
  if (document.tax) {
    earn(`liabilities:tax:${accountName(document.tax.name)}`, minorOf(document.tax, 'amount', document))
  }
  const debtor = accountName(document.recipient?.name ?? 'internal')
  return [[`assets:receivable:${debtor}`, minorOf(document, 'total', document)], ...income]
}

/**
 * Escapes a name for use in an account: in hledger two spaces end a name, and colons, brackets, semicolons and the
 * marks of cleared transactions have special meanings.
 */
function accountName(name: string): string {
  const plainName = name
    .normalize()
    .replace(/\s+/g, ' ')
    .replace(/[^\p{L}\p{M}\p{N} ._&'+-]+/gu, '-')
  return plainName.replace(/^[^\p{L}\p{N}]+|[ -]+$/gu, '').replace(/ +/g, ' ') || 'unnamed'
}

/** A text on one line that can't start a comment or, in a description, a note. */
function plain(text: string): string {
  return text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[;|]/g, ',')
    .trim()
}
