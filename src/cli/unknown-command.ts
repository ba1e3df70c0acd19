/** What was probably meant by a word that is not a command. Pure. */
import type { Command } from 'commander'
import { editsBetween, nearestNames } from '../lib/nearest-names.ts'
import { fullNameOf, withSubcommands } from './command-tree.ts'

const FINAL_WORDS = 'delete remove rm del destroy erase revoke cancel void'

/**
 * Words of other command lines, and the commands that do the same here: of each list, the first one that there is. Only
 * words that remove something lead to commands that do.
 */
const MEANINGS: readonly (readonly [words: string, ...commands: string[]])[] = [
  ['ls all find search', 'list'],
  ['get view describe info inspect status', 'show list'],
  ['add create new make', 'add create set'],
  ['change edit update modify rename configure set', 'change set'],
  [FINAL_WORDS, 'archive disable', 'remove erase revoke void'],
  ['archive disable deactivate suspend pause', 'archive disable'],
  ['enable activate resume', 'enable'],
  ['restore unarchive undelete', 'restore enable'],
  ['accept confirm approve', 'approve accept'],
  ['deny refuse reject decline', 'reject decline return'],
  ['explain lookup calculate', 'resolve preview'],
  ['try simulate', 'test preview'],
  ['download dump', 'export'],
  ['upload', 'import load'],
  ['cost costs spending spend', 'usage'],
  ['start run', 'serve'],
]

/** More than these would not be a suggestion. */
const SUGGESTED = 3

const words = (text: string, gap = ' ') => text.split(gap)

/** The commands that were probably meant by a word after `group`, by their full names. */
export function commandsLike(word: string, group: Command): string[] {
  const named = new Map(group.commands.flatMap((each) => [each.name(), ...each.aliases()].map((name) => [name, each])))
  // What the commands of objects do, those of the program do to the whole database: `tally restore` is of backups.
  const isMeant = (name: string) => named.has(name) && (group.parent !== null || !isFinal(named.get(name)!))
  const meant = meaningsOf(word).flatMap((names) => names.find(isMeant) ?? [])
  const near = nearestNames(word, named.keys()).filter(
    (name) => !isFinal(named.get(name)!) || editsBetween(word, name, 1) !== undefined,
  )
  const below = [...withSubcommands(group)].filter((each) => each.name() === word)
  for (const commands of [meant, near].map((names) => names.map((name) => named.get(name)!)).concat([below])) {
    if (commands.length > 0 && commands.length <= SUGGESTED) return [...new Set(commands.map(fullNameOf))]
  }
  return []
}

const meaningsOf = (word: string): string[][] =>
  MEANINGS.flatMap(([own, ...commands]) => (words(own).includes(word) ? commands.map((names) => words(names)) : []))

/** Whether it removes something or cannot be undone: nothing to propose to somebody who may have meant something else. */
const isFinal = (command: Command): boolean =>
  command.options.some(({ long }) => long === '--yes') || words(FINAL_WORDS).includes(words(command.name(), '-')[0]!)

/** Reports a word that is not a command of this one, in place of commander. */
export function suggestCommands(group: Command): void {
  group.on('command:*', ([word = '']: string[]) => {
    const similar = commandsLike(word, group)
    const hint = similar.length > 0 ? ` Did you mean ${similar.map((name) => `\`${name}\``).join(' or ')}?` : ''
    group.error(`error: unknown command '${word}'.${hint}`, { code: 'commander.unknownCommand' })
  })
}
